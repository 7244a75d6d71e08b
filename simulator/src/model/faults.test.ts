import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { silence } from '../audio/mulaw.ts'
import type { FaultPlan } from './faults.ts'
import { makeBench, type TestClient } from './model-client.fixture.ts'

const bench = makeBench()
afterEach(() => bench.reset())
afterAll(() => bench.close())

const BRAIN = { rules: [{ say: 'Everything is as it should be, and it goes on for a while.' }] }
const MANUAL = { turn_detection: null }

async function client(...faults: FaultPlan[]): Promise<TestClient> {
  return bench.client(await bench.model({ brain: BRAIN, faults }))
}

async function configured(faults: FaultPlan, input: Record<string, unknown> = MANUAL): Promise<TestClient> {
  const opened = await client(faults)
  await opened.configure({}, input)
  return opened
}

const errorsOf = ({ events }: TestClient) =>
  events.filter(({ type }) => type === 'error').map(({ error }) => error.code)

describe('faults by switch', () => {
  it('F33: never answers session.update, and lives on', async () => {
    const opened = await client({ ignore_session_update: true })
    await opened.event('session.created')
    opened.send({ type: 'session.update', session: { type: 'realtime' } })
    opened.send({ type: 'input_audio_buffer.clear' })
    await opened.event('input_audio_buffer.cleared')
    expect(opened.types()).toEqual(['session.created', 'input_audio_buffer.cleared'])
  })

  it('F34: refuses session.update with the code asked for', async () => {
    const opened = await client({ reject_session_update: 'invalid_value' })
    await opened.event('session.created')
    opened.send({ type: 'session.update', event_id: 'u', session: { type: 'realtime' } })
    const { error } = await opened.event('error')
    expect(error).toMatchObject({ code: 'invalid_value', event_id: 'u' })
  })

  it('F35: is cut after any number of events', async () => {
    const counts = Array.from({ length: 20 }, (_, i) => i + 1)
    const faults = counts.map((n) => ({ sessions: [n], cut: { manner: 'fin' as const, after_events: n } }))
    const model = await bench.model({ brain: BRAIN, faults })
    for (const n of counts) {
      const opened = bench.client(model)
      await opened.event('session.created')
      opened.send({ type: 'response.create' })
      await opened.until(() => opened.closed !== null, 'the end')
      expect(opened.events).toHaveLength(n)
    }
  })

  it('F37: stalls in the middle of its speech, and then says all', async () => {
    const opened = await configured({ stall: { on_event: 'response.output_audio.delta', nth: 2, stall_ms: 1_000 } })
    opened.send({ type: 'response.create' })
    await opened.until(
      () => opened.events.filter(({ type }) => type === 'response.output_audio.delta').length === 2,
      'deltas',
    )
    const stalledMs = performance.now()
    await opened.event('response.done')
    // Much less than it stalls: a busy machine hears late that it has begun to.
    expect(performance.now() - stalledMs).toBeGreaterThan(500)
  })

  it('F38: expires at a moment', async () => {
    const opened = await configured({ expire: { on_event: 'response.output_audio.delta' } })
    opened.send({ type: 'response.create' })
    await opened.until(() => opened.closed !== null, 'the close')
    expect([errorsOf(opened), opened.closed?.code]).toEqual([['session_expired'], 1001])
  })

  it('F40: fails every response for want of money', async () => {
    const opened = await configured({ fail_response: { code: 'insufficient_quota' } })
    for (const nth of [1, 2]) {
      opened.send({ type: 'response.create' })
      await opened.until(
        () => opened.events.filter(({ type }) => type === 'response.done').length === nth,
        'response.done',
      )
    }
    const failures = opened.events.filter(({ type }) => type === 'response.done')
    expect(failures.map(({ response }) => response.status_details.error.code)).toEqual([
      'insufficient_quota',
      'insufficient_quota',
    ])
  })

  it('F42: claims an active response, as often as asked, and no response.done follows', async () => {
    const opened = await configured({ active_response_count: 1 })
    opened.send({ type: 'response.create', event_id: 'refused' })
    const { error } = await opened.event('error')
    expect(error).toMatchObject({ code: 'conversation_already_has_active_response', event_id: 'refused' })
    opened.send({ type: 'response.create' })
    const { response } = await opened.event('response.done')
    expect(response.status).toBe('completed')
  })

  it('F43: refuses a truncation that is right', async () => {
    const opened = await configured({ truncate_error_count: 1 })
    opened.send({ type: 'response.create' })
    const { item } = await opened.event('response.output_item.done')
    const truncation = { type: 'conversation.item.truncate', item_id: item.id, content_index: 0, audio_end_ms: 100 }
    opened.send(truncation)
    opened.send(truncation)
    await opened.event('conversation.item.truncated')
    expect(errorsOf(opened)).toEqual(['invalid_value'])
  })

  it.each(['never', 'failed', 'late'] as const)('F44: the transcript is %s', async (how) => {
    const transcripts = how === 'late' ? { how, late_ms: 700 } : { how }
    const transcription = { model: 'gpt-4o-transcribe' }
    // The answer comes well after the time at which a transcript usually would.
    const opened = await configured({ transcripts, slow_first_byte_ms: 500 }, { turn_detection: null, transcription })
    opened.sendAudio(silence(200))
    const sinceMs = performance.now()
    opened.send({ type: 'input_audio_buffer.commit' })
    opened.send({ type: 'response.create' })
    await opened.event('response.done')
    const type = 'conversation.item.input_audio_transcription'
    const told = opened.types().filter((each) => each.startsWith(type))
    if (how === 'never') expect(told).toEqual([])
    if (how === 'failed') expect(told).toEqual([`${type}.failed`])
    if (how === 'late') {
      await opened.event(`${type}.completed`)
      expect(performance.now() - sinceMs).toBeGreaterThan(650)
    }
  })

  it('F45: says things that nobody knows, and one that is huge', async () => {
    const opened = await configured({ unknown_event_every: 3, huge_event_bytes: 2 * 1024 * 1024 })
    opened.send({ type: 'response.create' })
    await opened.event('response.done')
    expect(opened.events.filter(({ type }) => type === 'rehearsal.unknown_event').length).toBeGreaterThan(3)
    expect((await opened.event('rehearsal.huge_event'))['padding']).toHaveLength(2 * 1024 * 1024)
  })

  it('takes longer to its first delta', async () => {
    const opened = await configured({ slow_first_byte_ms: 500 })
    const sinceMs = performance.now()
    opened.send({ type: 'response.create' })
    await opened.event('response.output_audio.delta')
    expect(performance.now() - sinceMs).toBeGreaterThan(480)
  })

  it('strikes only the sessions named, and running ones when told', async () => {
    const model = await bench.model({
      brain: BRAIN,
      faults: [{ cut: { manner: 'rst', after_events: 1 }, sessions: [1] }],
    })
    const first = bench.client(model)
    await first.until(() => first.closed !== null, 'the reset')
    const second = bench.client(model)
    await second.configure({}, MANUAL)
    model.sessions.at(-1)?.setFaults({ cut: { manner: 'close', code: 1013, after_events: 1 } })
    second.send({ type: 'input_audio_buffer.clear' })
    await second.until(() => second.closed !== null, 'the close')
    expect([second.types().at(-1), second.closed?.code]).toEqual(['input_audio_buffer.cleared', 1013])
  })
})
