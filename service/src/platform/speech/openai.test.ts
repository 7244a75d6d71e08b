import { expect, it, onTestFinished } from 'vitest'
import { startSpeechServer } from '../../../test/harness/speech-server.ts'
import { openaiSpeech } from './openai.ts'

it.each([
  ['cedar', 'cedar'],
  [null, 'marin'],
  ['voice_abc123', { id: 'voice_abc123' }],
])('Words are spoken ahead with the voice %s as the endpoint takes it', async (voice, told) => {
  const server = await startSpeechServer()
  onTestFinished(() => server.close())
  const signal = new AbortController().signal
  await openaiSpeech({ baseUrl: server.baseUrl, apiKey: 'key' }).speak({ text: 'Hello.', voice, speed: 1, signal })
  expect(server.asked[0]?.voice).toEqual(told)
})
