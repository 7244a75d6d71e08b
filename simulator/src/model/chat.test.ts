import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePhraseBook } from '../speech/phrase-book.ts'
import { makeSpeech, type Speech } from '../speech/speech.ts'
import { type Model, startModel } from './model.ts'

let model: Model
let speech: Speech
beforeAll(async () => {
  const phraseBook = makePhraseBook()
  speech = makeSpeech({ phraseBook })
  model = await startModel({ host: '127.0.0.1', port: 0, speech, phraseBook, apiKey: 'right' })
  model.scripts.set('shop', {
    rules: [
      { when: { greeting: true }, say: 'Welcome to the shop.' },
      { when: { says: 'order' }, call: { name: 'find_order', arguments: { id: 7 } } },
      { when: { after_tool: 'find_order' }, say: 'It is {output.state}.' },
      { when: { turn: 2 }, say: 'That was your second question.' },
    ],
  })
})
afterAll(async () => {
  await model.close()
  await speech.close()
})

type Message = { content: string | null; tool_calls?: { id: string; function: { name: string; arguments: string } }[] }
type Completion = { choices: [{ message: Message; finish_reason: string }]; usage: { total_tokens: number } }

async function chat(body: unknown, { key = 'right', method = 'POST' } = {}) {
  const response = await fetch(`${model.baseUrl}/chat/completions`, {
    method,
    headers: { authorization: `Bearer ${key}` },
    ...(method === 'POST' && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return {
    status: response.status,
    body: (await response.json()) as Completion & { error: { code: string; param: string } },
  }
}

const user = (content: string) => ({ role: 'user', content })
const assistant = (content: string) => ({ role: 'assistant', content })
const tools = [{ type: 'function', function: { name: 'find_order', parameters: { type: 'object', properties: {} } } }]
const SHOP = { model: 'any:shop', tools }

async function said(messages: object[], more: object = SHOP): Promise<Message> {
  const { body } = await chat({ ...more, messages })
  return body.choices[0].message
}

describe('a chat with the simulated model', () => {
  it('follows the script that its model names, from its beginning each time', async () => {
    const system = { role: 'system', content: 'You sell chairs.' }
    expect((await said([system])).content).toBe('Welcome to the shop.')
    const asked = [
      system,
      assistant('Welcome to the shop.'),
      user('What is it?'),
      assistant('A shop.'),
      user('And this?'),
    ]
    for (const _again of [1, 2]) expect((await said(asked)).content).toBe('That was your second question.')
  })

  it('calls functions that it may call, and goes on from their results', async () => {
    const first = await said([user('Where is my order?')])
    expect(first).toMatchObject({
      content: null,
      tool_calls: [{ function: { name: 'find_order', arguments: '{"id":7}' } }],
    })
    const result = { role: 'tool', tool_call_id: first.tool_calls?.[0]?.id, content: '{"state":"sent"}' }
    const next = [user('Where is my order?'), { role: 'assistant', ...first }, result]
    expect((await said(next)).content).toBe('It is sent.')
    expect((await said([user('Where is my order?')], { model: 'any:shop' })).tool_calls).toBeUndefined()
  })

  it('says plainly that it is a rehearsal', async () => {
    expect((await said([user('Hello?')], { model: 'gpt-4o-mini' })).content).toBe(
      'You said: Hello?. This is a rehearsal, so I only repeat it.'.replace('?.', '.'),
    )
  })

  it('greets with no words that its instructions quote for something else', async () => {
    const own = (content: string) => ({ role: 'system', content })
    const facts = own('Speak as one does on the telephone. What is known of the call: {"direction":"browser"}')
    const first = async (...messages: object[]) => (await said(messages, { model: 'm' })).content
    expect(await first(facts)).toMatch(/^Hello\. This is a rehearsal/)
    expect(await first(facts, own('Greet the caller and ask how you can help.'))).toMatch(/^Hello\. This is/)
    expect(await first(facts, own('Say exactly: Good evening.'))).toMatch(/^Good evening\. This is/)
    expect(await first(own('Greet the caller with "Ada speaking."'))).toMatch(/^Ada speaking\. This is/)
  })

  it('answers keys, and a wish behind what was said, as such', async () => {
    const own = (content: string) => ({ role: 'system', content })
    const keys = own('The caller pressed these keys: 42')
    const next = async (...messages: object[]) =>
      (await said([own('You sell chairs.'), assistant('Hello.'), ...messages], { model: 'm' })).content
    expect(await next(keys)).toBe('You pressed 4 2. This is a rehearsal.')
    expect(await next(keys, assistant('So you did.'), user('Yes.'))).toMatch(/^You said: Yes\./)
    expect(await next(own('The caller has been silent. Ask briefly whether they are still there.'))).toMatch(/^I am/)
    expect(await next(own('Say exactly: One moment.'))).toBe('One moment.')
  })

  it('assesses a conversation for who asks for JSON, by what was said in it', async () => {
    const ask = async (agent: string) => {
      const transcript = [
        { role: 'caller', text: 'Are you open?' },
        { role: 'agent', text: agent },
      ]
      const asked = [
        { role: 'system', content: 'Assess.' },
        user(JSON.stringify({ criteria: [{ name: 'tone' }], transcript })),
      ]
      const { content } = await said(asked, { model: 'm', response_format: { type: 'json_object' } })
      return JSON.parse(content ?? '') as unknown
    }
    expect(await ask('Yes, until six.')).toMatchObject({ criteria: [{ name: 'tone', score: 0.95 }] })
    expect(await ask('Shut up.')).toMatchObject({ criteria: [{ name: 'tone', score: 0.45 }] })
  })

  it.each([
    ['nothing to answer', { model: 'm', messages: [] }, 400],
    ['a stream', { model: 'm', messages: [user('x')], stream: true }, 400],
    ['what it does not know', { model: 'm', messages: [user('x')], temperature: 1 }, 400],
    ['what is no JSON', '{', 400],
  ])('refuses %s', async (_what, body, status) => {
    expect((await chat(body)).status).toBe(status)
  })

  it('calls functions by the names of newer models only while they do not reason, as those do', async () => {
    const asked = { model: 'gpt-6-luna:shop', messages: [user('Where is my order?')], tools }
    const { status, body } = await chat(asked)
    expect([status, body.error.param]).toEqual([400, 'reasoning_effort'])
    expect((await said(asked.messages, { ...asked, reasoning_effort: 'none' })).tool_calls).toHaveLength(1)
    expect((await chat({ ...asked, tools: undefined })).status).toBe(200)
  })

  it('asks for a key, and for a POST', async () => {
    const body = { model: 'm', messages: [user('x')] }
    expect(await chat(body, { key: 'wrong' })).toMatchObject({
      status: 401,
      body: { error: { code: 'invalid_api_key' } },
    })
    expect((await chat(body, { method: 'GET' })).status).toBe(405)
  })
})
