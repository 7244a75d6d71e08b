import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openaiSpeech } from '../src/platform/speech/openai.ts'
import { type CallApp, useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { ACCOUNT } from './harness/served-app.ts'
import { type SpeechServer, startSpeechServer } from './harness/speech-server.ts'
import type { StreamClient } from './harness/stream-client.ts'
import { until } from './harness/wait.ts'

const TARGET = '+12025550103'
const NO_USAGE = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 }
const COMPLETED = { status: 'completed', errorCode: null, fault: null, usage: NO_USAGE } as const

const test = useDatabase()
const names = (table: 'call_logs' | 'voice_sessions') =>
  test.db
    .selectFrom(table)
    .select(['agent_key', 'agent_name', 'version_number', 'ended_at'])
    .where('call_sid', '=', 'CA1')
    .executeTakeFirstOrThrow()

/** An agent of the tenant's that has been published. */
async function billing(app: CallApp, config: Record<string, unknown> = {}): Promise<void> {
  const path = '/tenants/acme/agents'
  const named = { agent_key: 'billing', name: 'Billing' }
  const { agent } = await app.served.administer<{ agent: { id: string } }>('POST', path, named)
  await app.served.publish('acme', agent.id, { agent_name: 'Billie', instructions: 'Refund them.', ...config })
}

/** The agent of the call hands it to that one, whose session of the model is there then. */
async function handOver(app: CallApp): Promise<void> {
  const first = app.model.last
  first.tell({ type: 'response_started', responseId: 'r' })
  const argumentsText = JSON.stringify({ agent_key: 'billing' })
  first.tell({ type: 'tool_call', responseId: 'r', itemId: 'f', callId: 'c', name: 'hand_off', argumentsText })
  first.tell({ type: 'response_done', responseId: 'r', ...COMPLETED })
  await until(() => app.model.last !== first, { what: 'the session of the other agent' })
}

/** Its agent says something. */
function say({ model }: CallApp, itemId: string, text: string): void {
  const responseId = `response of ${itemId}`
  model.last.tell({ type: 'response_started', responseId })
  model.last.tell({ type: 'item_added', itemId, previousItemId: null, role: 'agent' })
  model.last.tell({ type: 'agent_transcript', responseId, itemId, text, final: true })
  model.last.speak(responseId, itemId, Buffer.alloc(800).toString('base64'))
}

describe('a call that its agent hands to another one', () => {
  const app = useCallApp(test, { agent: { agent_name: 'Robin', greeting: 'Hello.', tools: ['hand_off'] } })

  it('is known by that one from then on, also to whoever would have to go on with it', async () => {
    await billing(app)
    const caller = await app.talk({ CallSid: 'CA1' })
    await handOver(app)
    expect(app.model.last.setup.instructions).toContain('Refund them.')
    const handed = { agent_key: 'billing', agent_name: 'Billie', version_number: 1 }
    await until(async () => (await names('voice_sessions')).agent_key === 'billing', { what: 'the note of that' })
    expect(await names('call_logs')).toMatchObject({ ...handed, ended_at: null })
    caller.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
    await app.pass(async () => (await names('voice_sessions')).ended_at !== null, 'the end to be written down')
    expect(await names('voice_sessions')).toMatchObject(handed)
    expect(await names('call_logs')).toMatchObject(handed)
  })

  it('has in its transcript who of them has said what', async () => {
    await billing(app)
    const caller = await app.talk({ CallSid: 'CA1' })
    say(app, 'item_1', 'I pass you on.')
    await handOver(app)
    app.model.last.tell({ type: 'ready' })
    say(app, 'item_2', 'You shall have it.')
    caller.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
    await app.pass(async () => (await names('voice_sessions')).ended_at !== null, 'the end to be written down')
    const turns = await test.db
      .selectFrom('transcript_turns')
      .select(['agent_name', 'text', 'unheard'])
      .where('role', '=', 'agent')
      .orderBy('seq')
      .execute()
    expect(turns.map(({ agent_name, text, unheard }) => [agent_name, text + unheard])).toEqual([
      ['Robin', 'I pass you on.'],
      ['Billie', 'You shall have it.'],
    ])
  })
})

describe('what a carrier says of a call that was handed to an agent of another language', () => {
  const app = useCallApp(test, {
    agent: { agent_name: 'Robin', greeting: 'Hello.', tools: ['hand_off'] },
    document: { transfer_targets: [TARGET] },
  })

  it('is said in that, also to whom the call is put through', async () => {
    app.rest.reply = ({ path }) =>
      path.endsWith('/Calls.json') ? { status: 201, body: { sid: 'CA-target' } } : { status: 200, body: {} }
    await billing(app, { speech: { language: 'de' }, tools: ['transfer_call'] })
    const caller = await app.talk({ CallSid: 'CA1' })
    await handOver(app)
    const { last } = app.model
    last.tell({ type: 'ready' })
    last.tell({ type: 'response_started', responseId: 'r2' })
    const argumentsText = JSON.stringify({ target: TARGET, summary: 'Eine Erstattung.', warm: true })
    const tool = { responseId: 'r2', itemId: 'g', callId: 'c2', name: 'transfer_call', argumentsText }
    last.tell({ type: 'tool_call', ...tool })
    last.tell({ type: 'response_done', responseId: 'r2', ...COMPLETED })
    const isRung = () => last.commands.some((command) => command.type === 'tool_result' && command.callId === 'c2')
    await app.pass(isRung, 'the target to be rung')
    const placed = app.rest.requests.find(({ path }) => path.endsWith('/Calls.json'))
    const { pathname } = new URL(placed?.form['Url'] ?? '')
    const form = { CallSid: 'CA-target', AccountSid: ACCOUNT.sid, CallStatus: 'in-progress' }
    const { text } = await app.post(pathname, { form })
    expect(text).toContain('<Say language="de-DE">Ein Anruf wartet auf Sie.')
    caller.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
    await app.pass(async () => (await names('voice_sessions')).ended_at !== null, 'the end to be written down')
  })
})

describe('what bridges a wait of a caller who was handed over', () => {
  const [FIRST_MS, OTHER_MS] = [2_000, 700]
  const fillers = { phrases: ['One moment.'] }
  let provider: SpeechServer
  beforeAll(async () => {
    provider = await startSpeechServer()
    provider.answer({ ms: FIRST_MS })
  })
  afterAll(() => provider.close())

  const app = useCallApp(test, {
    agent: { agent_name: 'Robin', greeting: 'Hello.', fillers, tools: ['hand_off'] },
    speech: () => openaiSpeech({ baseUrl: provider.baseUrl, apiKey: 'sk-key-of-the-tests' }),
  })

  const areMade = async (count: number) =>
    until(async () => (await test.db.selectFrom('clips').selectAll().execute()).length === count, { what: 'the clips' })

  it('is what the other agent has for that, in its own voice', async () => {
    await areMade(2)
    provider.answer({ ms: OTHER_MS })
    await billing(app, { voice: 'verse', fillers })
    await areMade(3)
    const caller = await app.talk({ CallSid: 'CA1' })
    await until(() => heardMs(caller) === FIRST_MS, { what: 'the greeting' })
    await handOver(app)
    await app.pass(() => heardMs(caller) >= FIRST_MS + OTHER_MS, 'a filler')
    expect(heardMs(caller)).toBe(FIRST_MS + OTHER_MS)
  })
})

/** The audio that the caller was sent, as ms of it. */
function heardMs({ messages }: StreamClient): number {
  const media = messages.filter(({ event }) => event === 'media').map(({ media }) => media as { payload: string })
  return media.reduce((sum, { payload }) => sum + Buffer.from(payload, 'base64').length / 8, 0)
}
