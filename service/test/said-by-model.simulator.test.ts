import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Model, startModel } from '../../simulator/src/model/model.ts'
import { makePhraseBook } from '../../simulator/src/speech/phrase-book.ts'
import { makeSpeech } from '../../simulator/src/speech/speech.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { openaiDriver } from '../src/platform/realtime/openai/driver.ts'
import { openaiSpeech } from '../src/platform/speech/openai.ts'
import { saidByModel, withSuccessor } from '../src/platform/speech/said-by-model.ts'
import { trimmedTelephone } from '../src/platform/speech/telephone-audio.ts'
import { type SpeechServer, startSpeechServer } from './harness/speech-server.ts'

const GREETING = 'Welcome to the shop. How can I help you today?'

const phraseBook = makePhraseBook()
const speech = makeSpeech({ phraseBook })
let model: Model
let endpoint: SpeechServer

beforeAll(async () => {
  const pace = { thinkMs: 10, timesRealTime: 20 }
  model = await startModel({ host: '127.0.0.1', port: 0, speech, phraseBook, pace, apiKey: 'the-key' })
})
beforeEach(async () => {
  endpoint = await startSpeechServer()
  return () => endpoint.close()
})
afterAll(async () => {
  await model.close()
  await speech.close()
})

function voices() {
  const defaults = { model: 'gpt-realtime-2.1', voice: 'marin', transcriptionModel: 'gpt-4o-mini-transcribe' }
  const driver = openaiDriver({ url: model.url, apiKey: 'the-key', clock: systemClock, defaults })
  const spoken = saidByModel(driver, 'marin')
  return withSuccessor(openaiSpeech({ baseUrl: endpoint.baseUrl, apiKey: 'key' }), spoken)
}

const say = (text: string, signal = new AbortController().signal) =>
  voices().speak({ text, voice: 'cedar', speed: 1.1, signal })
const open = () => model.sessions.filter(({ record }) => record.closedAtMs === null)

describe('words that are spoken ahead once the speech endpoint has no model any more', () => {
  it('are said by the model of calls, as they stand and in the voice that is asked for', async () => {
    endpoint.answer({ status: 404 })
    onTestFinished(model.scripts.setDefault({ rules: [{ say: '{words}' }] }))
    const before = model.sessions.length
    const spoken = await say(GREETING)
    expect(spoken.equals(trimmedTelephone(Buffer.from(await speech.say(GREETING))))).toBe(true)
    const [session, ...more] = model.sessions.slice(before)
    expect([session?.record, more]).toMatchObject([{ model: 'gpt-realtime-2.1', said: [{ text: GREETING }] }, []])
    await expect.poll(open).toEqual([])
  })

  it('are taken without what a model that reasons says ahead of them', async () => {
    endpoint.answer({ status: 404 })
    const rule = { ahead: { say: 'Sure, here it is.', think_ms: 50 }, say: '{words}' }
    onTestFinished(model.scripts.setDefault({ rules: [rule] }))
    const spoken = await say(GREETING)
    expect(spoken.equals(trimmedTelephone(Buffer.from(await speech.say(GREETING))))).toBe(true)
    await expect.poll(open).toEqual([])
  })

  it('are none where the model says other ones, whatever it is asked', async () => {
    endpoint.answer({ status: 404 })
    onTestFinished(model.scripts.setDefault({ rules: [{ say: 'Sure! Welcome to the shop.' }] }))
    const before = model.sessions.length
    await expect(say(GREETING)).rejects.toMatchObject({
      isLasting: true,
      message: expect.stringContaining('other words'),
    })
    expect(model.sessions.length - before).toBe(3)
    await expect.poll(open).toEqual([])
  })

  it('are none where it leaves out what is a word for people', async () => {
    endpoint.answer({ status: 404 })
    onTestFinished(model.scripts.setDefault({ rules: [{ say: 'It costs 5, and 10 later.' }] }))
    await expect(say('It costs €5, and 10 % later.')).rejects.toMatchObject({ isLasting: true })
  })

  it('are not asked for again all the time where it keeps back its answers, or there is no time left for the right ones', async () => {
    endpoint.answer({ status: 404 })
    onTestFinished(model.setFaults([{ fail_response: { code: 'content_filter', count: 1 } }]))
    const before = model.sessions.length
    await expect(say(GREETING)).rejects.toMatchObject({ isLasting: true })
    expect(model.sessions.length - before).toBe(3)

    onTestFinished(model.scripts.setDefault({ rules: [{ say: 'Sure!' }] }))
    onTestFinished(model.setFaults([{ sessions: [2], ignore_session_update: true }]))
    const { signal, abort } = abortable()
    const waiting = say(GREETING, signal)
    await expect.poll(() => model.sessions.length - before).toBe(5)
    abort()
    await expect(waiting).rejects.toMatchObject({ isLasting: true, message: expect.stringContaining('other words') })
  })

  it.each([
    [true, { handshake_status: 404 }],
    [true, { open_error: 'model_not_found' }],
    [true, { reject_session_update: 'invalid_value' }],
    [false, { handshake_status: 503 }],
    [false, { refuse: true }],
  ])('are given up for long where the session is refused for good: %s for %j', async (isLasting, fault) => {
    endpoint.answer({ status: 404 })
    onTestFinished(model.setFaults([fault]))
    await expect(say(GREETING)).rejects.toMatchObject({ isLasting, message: expect.stringContaining('model failed') })
    await expect.poll(open).toEqual([])
  })

  it('are none where the model fails, or is not waited for any longer', async () => {
    endpoint.answer({ status: 404 })
    onTestFinished(model.setFaults([{ fail_response: { code: 'server_error', count: 1 } }]))
    await expect(say(GREETING)).rejects.toMatchObject({
      isLasting: false,
      message: expect.stringContaining('server_error'),
    })
    onTestFinished(model.setFaults([{ ignore_session_update: true }]))
    const { signal, abort } = abortable()
    const waiting = say(GREETING, signal)
    await expect.poll(open).toHaveLength(1)
    abort()
    await expect(waiting).rejects.toMatchObject({ name: 'SpeechFault', isLasting: false })
    await expect.poll(open).toEqual([])
  })

  it('are left to the endpoint as long as it has one, also where it is only away', async () => {
    const before = model.sessions.length
    expect((await say(GREETING)).length).toBeGreaterThan(0)
    endpoint.answer({ status: 503 })
    await expect(say(GREETING)).rejects.toMatchObject({ isGone: false })
    expect(model.sessions).toHaveLength(before)
  })
})

function abortable(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}
