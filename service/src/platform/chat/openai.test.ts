import { expect, it, onTestFinished } from 'vitest'
import { startChatServer } from '../../../test/harness/chat-server.ts'
import type { ToolDeclaration } from '../realtime/port.ts'
import { openaiChat } from './openai.ts'

const MESSAGES = [{ role: 'user' as const, text: 'Hello.' }]
const PING: ToolDeclaration = { name: 'ping', description: 'Pings.', parameters: { type: 'object', properties: {} } }
/** As it is refused by the models that do not call functions while they reason. */
const WHILE_REASONING = {
  status: 400,
  body: JSON.stringify({
    error: {
      message:
        "Function tools with reasoning_effort are not supported for large in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
      ...{ type: 'invalid_request_error', param: 'reasoning_effort', code: null },
    },
  }),
}

async function chatting() {
  const server = await startChatServer()
  onTestFinished(() => server.close())
  const chat = openaiChat({ baseUrl: server.baseUrl, apiKey: 'key' })
  const { signal } = new AbortController()
  const ask = (model: string | null, tools: ToolDeclaration[]) =>
    chat.complete({ model, messages: MESSAGES, tools, signal })
  return { server, ask, efforts: () => server.asked.map(({ reasoning_effort: effort }) => effort) }
}

it('A chat model is told of tools as it takes them, whatever their schemas leave out', async () => {
  const server = await startChatServer()
  onTestFinished(() => server.close())
  const tools = [{ name: 'ping', description: 'x'.repeat(2_000), parameters: { type: 'object', anyOf: [] } }]
  const messages = [{ role: 'user' as const, text: 'Hello.' }]
  const signal = new AbortController().signal
  await openaiChat({ baseUrl: server.baseUrl, apiKey: 'key' }).complete({ model: null, messages, tools, signal })
  expect(server.asked[0]?.tools).toMatchObject([
    { function: { name: 'ping', description: 'x'.repeat(1_024), parameters: { type: 'object', properties: {} } } },
  ])
  expect(server.asked[0]?.tools?.[0]?.function.parameters).not.toHaveProperty('anyOf')
})

it('A chat model that calls functions only while it does not reason is asked again without, and from then on at once', async () => {
  const { server, ask, efforts } = await chatting()
  server.answer(WHILE_REASONING, { says: 'Yes.' })
  expect((await ask('large', [PING])).text).toBe('Yes.')
  expect(efforts()).toEqual([undefined, 'none'])
  await ask('large', [PING])
  await ask('large', [])
  await ask('small', [PING])
  expect(efforts().slice(2)).toEqual(['none', undefined, undefined])
})

it('The model of the house reasons where it reads a conversation, and not where it has one', async () => {
  const { server, ask, efforts } = await chatting()
  await ask(null, [PING])
  await ask(null, [])
  const { signal } = new AbortController()
  const chat = openaiChat({ baseUrl: server.baseUrl, apiKey: 'key' })
  await chat.complete({ model: null, messages: MESSAGES, tools: [], answers: 'json', signal })
  expect(efforts()).toEqual(['none', 'none', undefined])
})

it('A chat model whose server knows no such format of JSON is asked again without, and from then on at once', async () => {
  const server = await startChatServer()
  onTestFinished(() => server.close())
  const chat = openaiChat({ baseUrl: server.baseUrl, apiKey: 'key' })
  const { signal } = new AbortController()
  const ask = (model: string) => chat.complete({ model, messages: MESSAGES, tools: [], answers: 'json', signal })
  server.answer(
    { status: 400, body: `{"error":"'response_format.type' must be 'json_schema' or 'text'"}` },
    { says: '{}' },
  )
  expect((await ask('own')).text).toBe('{}')
  await ask('own')
  await ask('other')
  const json = { type: 'json_object' }
  expect(server.asked.map(({ response_format }) => response_format)).toEqual([json, undefined, undefined, json])
})

it('A chat model that refuses to answer is told of in the words of its server', async () => {
  const { server, ask } = await chatting()
  server.answer({ status: 404, body: '{"error":"No models loaded."}' })
  await expect(ask('own', [])).rejects.toThrow('the chat model answered 404: No models loaded.')
})

it('A chat model that refuses that too is not asked a third time', async () => {
  const { server, ask, efforts } = await chatting()
  server.answer(WHILE_REASONING)
  await expect(ask('large', [PING])).rejects.toMatchObject({ isRefusal: true })
  expect(efforts()).toEqual([undefined, 'none'])
})

it.each([
  [
    400,
    { error: { message: "UnsupportedParamsError: no parameters: ['reasoning_effort']", param: null, code: '400' } },
  ],
  [422, { detail: [{ loc: ['body', 'reasoning_effort'], msg: "Input should be 'low', 'medium' or 'high'" }] }],
])(
  'Where the model of the house is served by who does not know how it is told so, it is not told: %i',
  async (status, told) => {
    const { server, ask, efforts } = await chatting()
    server.answer({ status, body: JSON.stringify(told) }, { says: 'Yes.' })
    expect((await ask(null, [])).text).toBe('Yes.')
    await ask(null, [])
    expect(efforts()).toEqual(['none', undefined, undefined])
  },
)

it('What a chat costs counts what is kept of it for the next one, where that has a price', async () => {
  const { server, ask } = await chatting()
  const details = { cached_tokens: 200_000, cache_write_tokens: 400_000 }
  const usage = { prompt_tokens: 1_000_000, completion_tokens: 1_000_000, prompt_tokens_details: details }
  const body = JSON.stringify({ choices: [{ message: { content: 'Yes.' } }], usage })
  server.answer({ status: 200, body })
  expect((await ask(null, [])).usage?.costUsd).toBeCloseTo(0.04 + 0.002 + 0.05 + 0.5)
  expect((await ask('gpt-4o-mini', [])).usage?.costUsd).toBeCloseTo(0.12 + 0.015 + 0.6)
})
