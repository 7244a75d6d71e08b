import { describe, expect, it, vi } from 'vitest'
import { runCheck } from '../checking.fixture.ts'
import { audioAnswer, startModelServer, textAnswer } from '../model-server.fixture.ts'
import { API_KEY, startSimulated } from '../simulated.fixture.ts'
import { modelCheck } from './model.ts'

vi.setConfig({ testTimeout: 30_000 })

type Fault = Parameters<Awaited<ReturnType<typeof startSimulated>>['model']['setFaults']>[0][number]

async function checkWith(fault: Fault, more: { model?: string; voice?: string } = {}) {
  const { model, settings } = await startSimulated()
  model.setFaults([fault])
  return runCheck(modelCheck, settings, more)
}

const checkServer = async (...answer: Parameters<typeof startModelServer>) =>
  runCheck(modelCheck, { OPENAI_API_KEY: API_KEY, OPENAI_REALTIME_URL: await startModelServer(...answer) })

describe('the model', () => {
  it('is ok when it speaks µ-law and takes a truncation, and is measured', async () => {
    const { model, settings } = await startSimulated()
    expect(await runCheck(modelCheck, settings)).toMatchObject({
      state: 'ok',
      found: expect.stringMatching(
        /^Ready in \d+ ms, first sound \d+ ms after it was asked for, \d+\.\d s of µ-law \(“This is Parley speaking\..*”\); a truncation was taken\.$/,
      ),
    })
    expect(model.sessions).toHaveLength(1)
    await vi.waitFor(() => expect(model.sessions[0]?.record.closedAtMs).not.toBeNull(), 5_000)
  })

  it('is the one that was named', async () => {
    const { model, settings } = await startSimulated()
    expect(await runCheck(modelCheck, settings, { model: 'gpt-realtime-mini', voice: 'cedar' })).toMatchObject({
      state: 'ok',
    })
    expect(model.sessions[0]?.record).toMatchObject({ model: 'gpt-realtime-mini' })
  })

  it.each<{ fault: Fault; found: string; todo: string }>([
    { fault: { handshake_status: 401 }, found: 'invalid_api_key', todo: 'OPENAI_API_KEY is not accepted' },
    { fault: { handshake_status: 404 }, found: 'model_not_found', todo: '--model' },
    { fault: { handshake_status: 429 }, found: 'rate_limit_exceeded', todo: 'Too many requests' },
    { fault: { refuse: true }, found: 'econnreset', todo: 'OPENAI_REALTIME_URL' },
    { fault: { open_error: 'insufficient_quota' }, found: 'insufficient_quota', todo: 'no credit' },
    { fault: { reject_session_update: 'invalid_value' }, found: 'invalid_value', todo: '--voice' },
    { fault: { fail_response: { code: 'insufficient_quota' } }, found: 'answer failed', todo: 'no credit' },
    { fault: { truncate_error_count: 1 }, found: 'cannot be cut short', todo: 'conversation.item.truncate' },
  ])('fails with advice for $fault', async ({ fault, found, todo }) => {
    expect(await checkWith(fault)).toMatchObject({
      state: 'FAIL',
      found: expect.stringContaining(found),
      todo: expect.stringContaining(todo),
    })
  })

  it('fails when the session is not set up within five seconds', async () => {
    expect(await checkWith({ ignore_session_update: true })).toMatchObject({
      state: 'FAIL',
      found: expect.stringContaining('setup_timeout'),
    })
  })

  it('fails for a voice that there is not', async () => {
    expect(await checkWith({}, { voice: 'nobody' })).toMatchObject({
      state: 'FAIL',
      todo: expect.stringContaining('--voice'),
    })
  })

  it('is skipped without a key', async () => {
    expect(await runCheck(modelCheck, {})).toMatchObject({ state: 'skipped' })
  })
})

describe('a server that takes every setting', () => {
  it('fails when it sends 16-bit samples all the same', async () => {
    const samples = Int16Array.from({ length: 24_000 }, (_, i) => 3_000 * Math.sin(i / 7))
    expect(await checkServer(audioAnswer(Buffer.from(samples.buffer)))).toMatchObject({
      state: 'FAIL',
      found: expect.stringContaining('another format than µ-law'),
    })
  })

  it('fails when it sends silence, nothing or text', async () => {
    const founds = [audioAnswer(Buffer.alloc(8_000, 0xff)), () => [], textAnswer].map(async (spoken) => {
      const { state, found } = await checkServer(spoken)
      return [state, found]
    })
    expect(await Promise.all(founds)).toEqual([
      ['FAIL', 'What the model sent is silence.'],
      ['FAIL', 'The model answered without a sound.'],
      ['FAIL', 'The model answered in text and said nothing.'],
    ])
  })

  it('is let off the proof of a truncation when it never refuses anything', async () => {
    const speech = Buffer.from(Array.from({ length: 16_000 }, (_, i) => 0x90 + (i % 0x60)))
    expect(await checkServer(audioAnswer(speech))).toMatchObject({
      state: 'ok',
      found: expect.stringContaining('a truncation was not refused.'),
    })
  })
})
