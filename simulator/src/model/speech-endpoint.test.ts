import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePhraseBook } from '../speech/phrase-book.ts'
import { makeSpeech, type Speech } from '../speech/speech.ts'
import { type Model, startModel } from './model.ts'

const WORDS = 'Hello, this is the shop.'

let model: Model
let speech: Speech
beforeAll(async () => {
  const phraseBook = makePhraseBook()
  speech = makeSpeech({ phraseBook })
  model = await startModel({ host: '127.0.0.1', port: 0, speech, phraseBook, apiKey: 'right' })
})
afterAll(async () => {
  await model.close()
  await speech.close()
})

function ask(body: object, { key = 'right', method = 'POST' } = {}): Promise<Response> {
  const sent = method === 'POST' ? { body: JSON.stringify(body) } : {}
  return fetch(`${model.baseUrl}/audio/speech`, { method, headers: { authorization: `Bearer ${key}` }, ...sent })
}

const asked = (more: object = {}) => ({ model: 'any', voice: 'any', input: WORDS, response_format: 'pcm', ...more })

describe('the speech of the simulated model', () => {
  it('is what is heard in a call, as PCM of 24 kHz', async () => {
    const response = await ask(asked({ speed: 1.1 }))
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'audio/pcm'])
    const pcm = Buffer.from(await response.arrayBuffer())
    expect(pcm.length).toBe((await speech.say(WORDS)).length * 3 * 2)
  })

  it('is the telephone’s own for whoever takes that, so that the model knows the words', async () => {
    const headers = { authorization: 'Bearer right', accept: 'audio/basic, */*;q=0.5' }
    const response = await fetch(`${model.baseUrl}/audio/speech`, {
      method: 'POST',
      headers,
      body: JSON.stringify(asked()),
    })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'audio/basic'])
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from(await speech.say(WORDS)))
  })

  it('is refused as the real one would refuse it, and where it is not rehearsed', async () => {
    expect((await ask(asked(), { key: 'wrong' })).status).toBe(401)
    expect((await ask(asked(), { method: 'GET' })).status).toBe(405)
    for (const bad of [{ response_format: 'mp3' }, { input: 7 }, { speed: 9 }, { style: 'sad' }]) {
      const response = await ask(asked(bad))
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: { type: 'invalid_request_error' } },
      ])
    }
  })
})
