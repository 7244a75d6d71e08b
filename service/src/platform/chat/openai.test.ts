import { expect, it, onTestFinished } from 'vitest'
import { startChatServer } from '../../../test/harness/chat-server.ts'
import { openaiChat } from './openai.ts'

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
