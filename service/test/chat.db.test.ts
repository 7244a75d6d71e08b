import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startModel } from '../../simulator/src/model/model.ts'
import { makePhraseBook } from '../../simulator/src/speech/phrase-book.ts'
import { makeSpeech } from '../../simulator/src/speech/speech.ts'
import { Browser } from './harness/browser.ts'
import { type ChatServer, startChatServer } from './harness/chat-server.ts'
import { TestClock } from './harness/clock.ts'
import { useDatabase } from './harness/database.ts'
import { ServedApp } from './harness/served-app.ts'
import { until } from './harness/wait.ts'

const test = useDatabase()
const KEY = 'sk-key-of-the-chat-tests'
const PASSWORD = 'a long enough password'
const clock = new TestClock()
let provider: ChatServer
let served: ServedApp
let agentId: string

beforeAll(async () => {
  provider = await startChatServer()
  const settings = { OPENAI_BASE_URL: provider.baseUrl, OPENAI_API_KEY: KEY, ADMIN_USERNAME: 'ada' }
  served = await ServedApp.start(test, { clock, settings: { ...settings, ADMIN_PASSWORD: PASSWORD } })
})
afterAll(async () => {
  await served.app.close()
  await provider.close()
})
beforeEach(async () => {
  provider.asked.length = 0
  provider.answer({ says: 'Yes.' })
  await served.administer('PUT', '/prompts/house', { text: 'You are of {{tenant_name}}, called by {{caller}}.' })
  const document = { name: 'Acme', system_prompt_key: 'house', compliance: { ai_disclosure: 'I am a machine.' } }
  const agent = { agent_name: 'Robin', instructions: 'Be brief.', greeting: 'Hello.', chat_model: 'small' }
  agentId = await served.furnish('acme', { number: '+12025550140', document, agent })
  await served.furnish('other', { number: '+12025550141' })
})

type Reply = { ok: boolean; message: { role: string; text: string }; function_calls: object[] }
const ask = (body: unknown, tenant: string | null = 'acme') => served.call<Reply>(tenant, 'POST', '/chats', body)
const says = (text: string) => ({ role: 'caller', text })
const hello = { agent_key: 'desk', messages: [says('Are you open?')] }

describe('POST /api/v1/chats', () => {
  it('answers as the agent would, told what it is told in a call', async () => {
    const messages = [{ role: 'agent', text: 'Hello.' }, says('Are you open?')]
    const { status, body } = await ask({ agent_key: 'desk', messages })
    expect([status, body]).toEqual([200, { ok: true, message: { role: 'agent', text: 'Yes.' }, function_calls: [] }])
    const [asked] = provider.asked
    expect(asked).toMatchObject({ authorization: `Bearer ${KEY}`, model: 'small' })
    expect(asked?.messages.slice(1)).toEqual([
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: 'Are you open?' },
    ])
    const instructions = asked?.messages[0]?.content
    expect(instructions).toMatch(
      /^You are of Acme, called by browser\.\n\nYou are Robin.*\n\nBe brief\.\n\nThis is a telephone/,
    )
    const tools = ['end_call', 'record_outcome', 'schedule_callback', 'escalate_to_human', 'add_to_dnc']
    expect(asked?.tools?.map((tool) => tool.function.name)).toEqual(tools)
  })

  it('begins with the greeting of a call, without asking anybody', async () => {
    const { body } = await ask({ agent_key: 'desk', messages: [] })
    expect([body.message.text, provider.asked]).toEqual(['I am a machine. Hello.', []])
    await served.publish('acme', agentId, { greeting: '' })
    await clock.advance(1_001)
    expect((await ask({ agent_key: 'desk', messages: [] })).body.message.text).toBe('Yes.')
    expect(provider.asked[0]?.messages[0]?.content).toContain('I am a machine.')
  })

  it('speaks by an exact version, drafts too, and by the model of the house where it names none', async () => {
    const config = { agent_id: agentId, config: { instructions: 'You are a draft.', tools: [] } }
    const made = await served.administer<{ version: { id: string } }>('POST', '/tenants/acme/agent-versions', config)
    const { status } = await ask({ agent_version_id: made.version.id, messages: [says('Hi')] })
    expect([status, provider.asked[0]?.model, provider.asked[0]?.tools]).toEqual([200, 'gpt-6-luna', undefined])
    expect(provider.asked[0]?.messages[0]?.content).toContain('You are a draft.')
  })

  it('tells what the agent calls, does nothing of it, and goes on to what it says', async () => {
    const summary = JSON.stringify({ summary: 'Wants chairs.' })
    const bent = { name: 'end_call', arguments: 'now' }
    provider.answer({ calls: [{ name: 'schedule_callback', arguments: summary }, bent] }, { says: 'We call you.' })
    const { body } = await ask(hello)
    expect(body).toEqual({
      ...{ ok: true, message: { role: 'agent', text: 'We call you.' } },
      function_calls: [
        { name: 'schedule_callback', arguments: { summary: 'Wants chairs.' } },
        { name: 'end_call', arguments: { unreadable: 'now' } },
      ],
    })
    expect(provider.asked[1]?.messages.slice(-3)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'call_0' }, { id: 'call_1' }] },
      { role: 'tool', tool_call_id: 'call_0', content: expect.stringContaining('nothing was done') },
      { role: 'tool', tool_call_id: 'call_1' },
    ])
    const kept = ['/callback-tasks', '/call-logs', '/voice-sessions']
    for (const path of kept) expect((await served.call('acme', 'GET', path)).body).toMatchObject({ count: 0 })
  })

  it('asks an agent that only calls three times, and no more', async () => {
    provider.answer({ calls: [{ name: 'end_call', arguments: '{}' }] })
    const { body } = await ask(hello)
    expect([body.message.text, body.function_calls.length, provider.asked.length]).toEqual(['', 3, 3])
    provider.answer({ says: 'Bye.' })
    const messages = [...hello.messages, body.message, says('And now?')]
    expect((await ask({ ...hello, messages })).body.message.text).toBe('Bye.')
    expect(provider.asked.at(-1)?.messages.slice(1)).toEqual([
      { role: 'user', content: 'Are you open?' },
      { role: 'user', content: 'And now?' },
    ])
  })

  it.each([
    ['refuses', { status: 401, body: '{"error":{"message":"Incorrect API key provided."}}' }],
    ['fails', { status: 500, body: 'oh' }],
    ['answers with nothing that can be read', { status: 200, body: '<html>' }],
    ['answers without an end', { status: 200, body: 'x'.repeat(1_100_000) }],
    ['breaks off', 'cut'],
  ] as const)('says 502 when the model %s', async (_what, answer) => {
    provider.answer(answer)
    expect(await ask(hello)).toMatchObject({ status: 502, body: { ok: false, code: 'upstream_failed' } })
    expect(JSON.stringify(served.logLines())).not.toContain(KEY)
  })

  it('says that the model refuses, and what to check, where another try changes nothing', async () => {
    provider.answer({ status: 404, body: '{"error":{"message":"The model does not exist."}}' })
    const error = "The chat model refused to answer: check the agent version's chat_model."
    expect(await ask(hello)).toMatchObject({ status: 502, body: { code: 'upstream_failed', error } })
  })

  it('says 502 when the model says nothing for half a minute', async () => {
    provider.answer('nothing')
    const waiting = ask(hello)
    await until(() => provider.asked.length === 1, { what: 'the model to be asked' })
    await clock.advance(30_000)
    expect((await waiting).status).toBe(502)
  })

  it.each([
    [{ messages: [] }, '/body/agent_key'],
    [{ agent_key: 'desk' }, '/body/messages'],
    [{ agent_key: 'nobody', messages: [] }, '/body/agent_key'],
    [{ agent_version_id: 'no version', messages: [] }, '/body/agent_version_id'],
    [{ agent_key: 'desk', messages: [{ role: 'system', text: 'x' }] }, '/body/messages/0/role'],
    [{ agent_key: 'desk', messages: [{ role: 'caller', text: 'x'.repeat(8_001) }] }, '/body/messages/0/text'],
    [{ agent_key: 'desk', messages: Array.from({ length: 20 }, () => says('x'.repeat(6_000))) }, '/body/messages'],
    [{ agent_key: 'desk', messages: Array.from({ length: 201 }, () => says('x')) }, '/body/messages'],
    [{ agent_key: 'desk', messages: [], stream: true }, '/body/stream'],
  ])('refuses %.60j with 400', async (body, path) => {
    expect(await ask(body)).toMatchObject({ status: 400, body: { details: [{ path }] } })
  })

  it("asks for a credential, and knows nothing of another tenant's agents", async () => {
    expect((await ask(hello, null)).status).toBe(401)
    const version = await served.publish('acme', agentId, {})
    expect((await ask({ agent_version_id: version, messages: [] }, 'other')).status).toBe(400)
  })

  it('is for those who make agents', async () => {
    const browser = new Browser(served)
    const person = { email: 'op@acme.example', role: 'operator', password: PASSWORD }
    await served.administer('POST', '/tenants/acme/users', person)
    await browser.login(person.email, PASSWORD)
    expect((await browser.call('POST', '/chats', { body: hello })).status).toBe(403)
  })
})

describe('a chat', () => {
  it('is had with the simulated model too', async () => {
    const phraseBook = makePhraseBook()
    const speech = makeSpeech({ phraseBook })
    const model = await startModel({ host: '127.0.0.1', port: 0, speech, phraseBook })
    const settings = { OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: KEY }
    const rehearsal = await ServedApp.start(test, { clock, settings, besides: served })
    const { body } = await rehearsal.call<Reply>('acme', 'POST', '/chats', { ...hello, messages: [says('Goodbye')] })
    expect(body).toMatchObject({ message: { text: 'Goodbye.' }, function_calls: [{ name: 'end_call' }] })
    await rehearsal.app.close()
    await model.close()
    await speech.close()
  })

  it('needs a model', async () => {
    const mute = await ServedApp.start(test, { clock, besides: served })
    expect(await mute.call('acme', 'POST', '/chats', hello)).toMatchObject({ status: 503 })
    await mute.app.close()
  })
})
