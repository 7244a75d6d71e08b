import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { silence } from '../audio/mulaw.ts'
import type { Model } from './model.ts'
import { type Event, makeBench, type TestClient } from './model-client.fixture.ts'

const bench = makeBench()
afterEach(() => bench.reset())
afterAll(() => bench.close())

const MANUAL = { turn_detection: null }
const QUIET_VAD = {
  type: 'server_vad',
  threshold: 0.5,
  prefix_padding_ms: 300,
  silence_duration_ms: 500,
  create_response: false,
  interrupt_response: false,
}

const GREETING = 'Welcome to the rehearsal. We are glad that you called, and we have all the time in the world.'
const SCRIPT = {
  rules: [
    { when: { greeting: true }, say: GREETING },
    { when: { turn: 1 }, say: 'One moment.', call: { name: 'look_up', arguments: { day: 'Monday' } } },
    { when: { after_tool: 'look_up' }, say: 'It is {output.time}.' },
  ],
}
const TOOLS = [
  { type: 'function', name: 'look_up', description: 'Looks up.', parameters: { type: 'object', properties: {} } },
]

async function opened(
  session: Record<string, unknown> = {},
  input: Record<string, unknown> = MANUAL,
): Promise<TestClient> {
  const client = bench.client(await bench.model({ brain: SCRIPT }))
  await client.configure(session, input)
  return client
}

function spokenMs(client: TestClient): number {
  const deltas = client.events.filter(({ type }) => type === 'response.output_audio.delta')
  return deltas.reduce((sum, event) => sum + Buffer.from(String(event['delta']), 'base64').length / 8, 0)
}

describe('the model double, row by row', () => {
  it('says session.created first, with its defaults, and nothing before', async () => {
    const client = bench.client(await bench.model())
    const { session } = await client.event('session.created')
    expect(client.events).toHaveLength(1)
    expect(session).toMatchObject({
      object: 'realtime.session',
      type: 'realtime',
      model: 'gpt-realtime',
      output_modalities: ['audio'],
      audio: { input: { format: { type: 'audio/pcm', rate: 24000 }, turn_detection: { type: 'server_vad' } } },
    })
  })

  it('speaks in the order of the real server, faster than it plays', async () => {
    // A busy machine takes seconds to the first words of a voice.
    await bench.speech.say(GREETING)
    const client = await opened()
    const startedMs = performance.now()
    client.send({ type: 'response.create' })
    const { response } = await client.event('response.done')
    expect(
      client
        .types()
        .slice(2)
        .filter((type, i, all) => !type.endsWith('.delta') || all.indexOf(type) === i),
    ).toEqual([
      'response.created',
      'rate_limits.updated',
      'response.output_item.added',
      'conversation.item.added',
      'response.content_part.added',
      'response.output_audio_transcript.delta',
      'response.output_audio.delta',
      'response.output_audio.done',
      'response.output_audio_transcript.done',
      'response.content_part.done',
      'conversation.item.done',
      'response.output_item.done',
      'response.done',
    ])
    expect(performance.now() - startedMs).toBeLessThan(spokenMs(client))
    expect(response).toMatchObject({ status: 'completed', status_details: null })
    expect(response.output[0].content).toEqual([{ type: 'output_audio', transcript: SCRIPT.rules[0]?.say }])
  })

  it('finds the turns in audio: where they begin and end, padding and silence included', async () => {
    const client = await opened({}, { turn_detection: QUIET_VAD, transcription: { model: 'gpt-4o-mini-transcribe' } })
    const phrase = await bench.speech.say('I would like to book a table for two.')
    client.sendAudio(Buffer.concat([silence(1_000), phrase, silence(1_000)]))
    const started = await client.event('input_audio_buffer.speech_started')
    const stopped = await client.event('input_audio_buffer.speech_stopped')
    const committed = await client.event('input_audio_buffer.committed')
    const spokenUntilMs = 1_000 + phrase.length / 8
    expect(started['audio_start_ms']).toBeGreaterThanOrEqual(680)
    expect(started['audio_start_ms']).toBeLessThanOrEqual(860)
    expect(Math.abs(stopped['audio_end_ms'] - (spokenUntilMs + 500))).toBeLessThanOrEqual(120)
    expect([started['item_id'], stopped['item_id']]).toEqual([committed['item_id'], committed['item_id']])
    const transcript = await client.event('conversation.item.input_audio_transcription.completed')
    expect(transcript).toMatchObject({
      item_id: committed['item_id'],
      transcript: 'I would like to book a table for two.',
    })
  })

  it('stops when told to, and says why in response.done', async () => {
    const client = await opened()
    client.send({ type: 'response.create' })
    await client.event('response.output_audio.delta')
    client.send({ type: 'response.cancel' })
    const { response } = await client.event('response.done')
    expect(response).toMatchObject({
      status: 'cancelled',
      status_details: { type: 'cancelled', reason: 'client_cancelled' },
    })
    expect(response.usage.output_tokens).toBeGreaterThan(0)
    expect(response.output[0].status).toBe('incomplete')
  })

  it.each([false, true])(
    'sends late deltas after a cancel when asked to (after response.done: %s)',
    async (afterDone) => {
      const model = await bench.model({
        brain: SCRIPT,
        faults: [{ late_deltas: { deltas: 3, after_done: afterDone } }],
      })
      const client = bench.client(model)
      await client.configure({}, MANUAL)
      client.send({ type: 'response.create' })
      await client.event('response.output_audio.delta')
      client.send({ type: 'response.cancel' })
      await client.event('response.done')
      const doneAt = client.events.findIndex(({ type }) => type === 'response.done')
      const isLate = (event: Event, at: number) =>
        event.type === 'response.output_audio.delta' && (afterDone ? at > doneAt : at < doneAt)
      const needed = afterDone ? 3 : 4
      await client.until(() => client.events.filter(isLate).length >= needed, 'late deltas')
      const ids = client.events.filter(isLate).map((event) => event['response_id'])
      expect(new Set(ids).size).toBe(1)
    },
  )

  it('cuts its speech to what was heard, and refuses to cut behind its end', async () => {
    const client = await opened()
    client.send({ type: 'response.create' })
    const done = await client.event('response.output_item.done')
    const itemId = done['item'].id
    const wholeMs = Math.floor(spokenMs(client))
    const truncation = { type: 'conversation.item.truncate', item_id: itemId, content_index: 0 }
    client.send({ ...truncation, event_id: 'too-far', audio_end_ms: wholeMs + 1 })
    client.send({ ...truncation, audio_end_ms: 500 })
    client.send({ ...truncation, event_id: 'again', audio_end_ms: 501 })
    const truncated = await client.event('conversation.item.truncated')
    expect(truncated).toMatchObject({ item_id: itemId, content_index: 0, audio_end_ms: 500 })
    await client.event('error', ({ error }) => error.event_id === 'again')
    expect(
      client.events.filter(({ type }) => type === 'error').map(({ error }) => [error.event_id, error.message]),
    ).toEqual([
      ['too-far', `Audio content of ${wholeMs}ms is already shorter than ${wholeMs + 1}ms`],
      ['again', 'Audio content of 500ms is already shorter than 501ms'],
    ])
    client.send({ type: 'conversation.item.retrieve', item_id: itemId })
    const retrieved = await client.event('conversation.item.retrieved')
    expect(Buffer.from(retrieved['item'].content[0].audio, 'base64')).toHaveLength(4_000)
    expect(retrieved['item'].content[0]).not.toHaveProperty('transcript')
  })

  it('refuses a second response while one is active, and a cancel while none is', async () => {
    const client = await opened()
    client.send({ type: 'response.cancel', event_id: 'early' })
    client.send({ type: 'response.create' })
    client.send({ type: 'response.create', event_id: 'second' })
    await client.event('response.done')
    const errors = client.events.filter(({ type }) => type === 'error').map(({ error }) => [error.event_id, error.code])
    expect(errors).toEqual([
      ['early', 'response_cancel_not_active'],
      ['second', 'conversation_already_has_active_response'],
    ])
    expect(client.events.filter(({ type }) => type === 'response.done')).toHaveLength(1)
  })

  it('ends a session that has lasted too long', async () => {
    const client = bench.client(await bench.model({ sessionMaxMs: 300 }))
    const { error } = await client.event('error')
    expect(error.code).toBe('session_expired')
    await client.until(() => client.closed !== null, 'the close')
    expect(client.closed?.code).toBe(1001)
  })

  it('tells of a rate limit in response.done, not as an error', async () => {
    const model = await bench.model({
      brain: SCRIPT,
      faults: [{ fail_response: { code: 'rate_limit_exceeded', count: 1 } }],
    })
    const client = bench.client(model)
    await client.configure({}, MANUAL)
    client.send({ type: 'response.create' })
    const failed = await client.event('response.done')
    expect(failed['response']).toMatchObject({
      status: 'failed',
      status_details: { type: 'failed', error: { code: 'rate_limit_exceeded' } },
      output: [],
    })
    client.send({ type: 'response.create' })
    const retried = await client.event('response.done', ({ response }) => response.status === 'completed')
    expect(retried['response'].output[0].content[0].transcript).toBe(SCRIPT.rules[0]?.say)
    expect(client.events.some(({ type }) => type === 'error')).toBe(false)
  })

  it('writes the caller down late and out of order when asked to, always with the item they belong to', async () => {
    const model = await bench.model({ faults: [{ transcripts: { how: 'swapped' } }] })
    const client = bench.client(model)
    await client.configure({}, { turn_detection: QUIET_VAD, transcription: { model: 'whisper-1' } })
    const first = await bench.speech.say('This is the first turn.')
    const second = await bench.speech.say('And this is the second one.')
    client.sendAudio(Buffer.concat([silence(500), first, silence(900), second, silence(900)]))
    await client.until(() => client.events.filter(isTranscript).length === 2, 'two transcripts')
    const items = client.events
      .filter(({ type }) => type === 'input_audio_buffer.committed')
      .map((event) => event['item_id'])
    expect(client.events.filter(isTranscript).map((event) => [event['item_id'], event['transcript']])).toEqual([
      [items[1], 'And this is the second one.'],
      [items[0], 'This is the first turn.'],
    ])
    expect(client.events.find(isTranscript)?.['usage']).toMatchObject({ type: 'duration' })
  })

  it.each(['fin', 'rst', 'close', 'black_hole'] as const)('loses the connection at any event: %s', async (manner) => {
    const model = await bench.model({ faults: [{ cut: { manner, on_event: 'response.output_audio.delta', nth: 2 } }] })
    const client = bench.client(model)
    await client.configure({}, MANUAL)
    client.send({ type: 'response.create' })
    await client.event('response.output_audio.delta')
    await client.until(
      () => client.events.filter(({ type }) => type === 'response.output_audio.delta').length === 2,
      'two deltas',
    )
    if (manner === 'black_hole') await wholeAnswer(model)
    else await client.until(() => client.closed !== null, 'the close')
    expect(client.closed?.code).toBe({ black_hole: undefined, close: 1011, fin: 1006, rst: 1006 }[manner])
    expect(client.events.filter(({ type }) => type === 'response.output_audio.delta')).toHaveLength(2)
  })

  it('calls a function and goes on with what it gave', async () => {
    const client = await opened({ tools: TOOLS })
    client.send({ type: 'response.create' })
    await client.event('response.done')
    client.send({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'When do you open?' }] },
    })
    client.send({ type: 'response.create' })
    const call = await client.event('response.function_call_arguments.done')
    expect(JSON.parse(call['arguments'])).toEqual({ day: 'Monday' })
    const deltas = client.events.filter(({ type }) => type === 'response.function_call_arguments.delta')
    expect(deltas.map((event) => event['delta']).join('')).toBe(call['arguments'])
    const output = { type: 'function_call_output', call_id: call['call_id'], output: '{"time":"nine o\'clock"}' }
    client.send({ type: 'conversation.item.create', item: output })
    const after = client.events.length
    client.send({ type: 'response.create' })
    const done = await client.event(
      'response.done',
      ({ response }) => response.output[0]?.content?.[0]?.transcript === "It is nine o'clock.",
      after,
    )
    expect(done['response'].status).toBe('completed')
  })
})

function isTranscript({ type }: Event): boolean {
  return type === 'conversation.item.input_audio_transcription.completed'
}

/** Waits until the model believes that it has said all. */
async function wholeAnswer(model: Model): Promise<void> {
  await vi.waitUntil(() => model.sessions[0]?.record.said[0]?.status === 'completed', { timeout: 30_000 })
}
