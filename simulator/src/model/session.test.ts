import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { decodeMulaw, silence } from '../audio/mulaw.ts'
import { encodeAlaw } from './alaw.ts'
import { makeEncoder } from './audio-codec.ts'
import { type Event, makeBench, type TestClient } from './model-client.fixture.ts'

const bench = makeBench()
afterEach(() => bench.reset())
afterAll(() => bench.close())

const LONG =
  'This is quite a long sentence, so that there is time to speak while it is being sent. And here is a second one.'
const BRAIN = {
  rules: [
    { when: { greeting: true }, say: LONG },
    { when: { turn: 1 }, say: 'The first answer.' },
    { say: 'Another answer.' },
  ],
}
const MANUAL = { turn_detection: null }
const vad = (fields: Record<string, unknown> = {}) => ({ turn_detection: { type: 'server_vad', ...fields } })

async function opened(
  session: Record<string, unknown> = {},
  input: Record<string, unknown> = MANUAL,
  timesRealTime = 50,
): Promise<TestClient> {
  const client = bench.client(await bench.model({ brain: BRAIN, pace: { thinkMs: 20, timesRealTime } }))
  await client.configure(session, input)
  return client
}

async function turnOf(text: string): Promise<Uint8Array> {
  return Buffer.concat([silence(400), await bench.speech.say(text), silence(800)])
}

const done = (event: Event) => event['response'].output[0]?.content?.[0]
const userText = (text: string, role = 'user') => ({
  type: 'conversation.item.create',
  item: { type: 'message', role, content: [{ type: 'input_text', text }] },
})

describe('turn taking by the server', () => {
  it('answers a turn by itself, and the items stand in one chain', async () => {
    const client = await opened({}, vad())
    client.sendAudio(await turnOf('Good morning.'))
    const { response } = await client.event('response.done')
    expect(response.output[0].content[0].transcript).toBe('The first answer.')
    const added = client.events.filter(({ type }) => type === 'conversation.item.added')
    expect(added.map((event) => [event['item'].role, event['previous_item_id']])).toEqual([
      ['user', null],
      ['assistant', added[0]?.['item'].id],
    ])
  })

  it('stops its own speech when the caller speaks', async () => {
    const client = await opened({}, vad(), 2)
    // Before the answer, which would be over by then: a busy machine takes seconds to a voice.
    const turn = await turnOf('Wait a moment, please.')
    client.send({ type: 'response.create' })
    await client.event('response.output_audio.delta')
    client.sendAudio(turn)
    const first = await client.event('response.done')
    expect(first['response']).toMatchObject({ status: 'cancelled', status_details: { reason: 'turn_detected' } })
    const types = client.types()
    expect(types.indexOf('input_audio_buffer.speech_started')).toBeLessThan(types.indexOf('response.done'))
    const second = await client.event('response.done', ({ response }) => response.status === 'completed')
    expect(done(second).transcript).toBe('The first answer.')
  })

  it('goes on speaking and answers nothing when told to leave both to the client', async () => {
    const client = await opened({}, vad({ create_response: false, interrupt_response: false }), 4)
    const cough = await turnOf('I am only coughing.')
    client.send({ type: 'response.create' })
    await client.event('response.output_audio.delta')
    client.sendAudio(cough)
    await client.event('input_audio_buffer.committed')
    const { response } = await client.event('response.done')
    expect(response.status).toBe('completed')
    expect(client.events.filter(({ type }) => type === 'response.created')).toHaveLength(1)
  })

  it('refuses to answer by itself while it still speaks', async () => {
    const client = await opened({}, vad({ interrupt_response: false }), 2)
    const turn = await turnOf('Hello?')
    client.send({ type: 'response.create' })
    await client.event('response.output_audio.delta')
    client.sendAudio(turn)
    const { error } = await client.event('error')
    expect(error).toMatchObject({ code: 'conversation_already_has_active_response', event_id: null })
  })

  it('speaks up when nobody says anything for long enough', async () => {
    const client = bench.client(await bench.model({ brain: { rules: [{ when: { greeting: true }, say: 'Yes?' }] } }))
    await client.configure({}, vad({ idle_timeout_ms: 5_000, create_response: false }))
    client.sendAudio(silence(600))
    client.send({ type: 'response.create' })
    await client.event('response.done')
    const triggered = await client.event('input_audio_buffer.timeout_triggered')
    expect(triggered).toMatchObject({ audio_start_ms: 0, audio_end_ms: 600 })
    const committed = await client.event('input_audio_buffer.committed')
    expect(committed['item_id']).toBe(triggered['item_id'])
    const prompt = await client.event('response.done', (event) =>
      done(event)?.transcript.startsWith('Are you still there?'),
    )
    expect(prompt['response'].status).toBe('completed')
  })
})

describe('a rehearsal', () => {
  const said = async (client: TestClient) => done(await client.event('response.done'))?.transcript

  it.each([
    [
      'says so behind the first words',
      'Robin speaking.',
      'Please hold. This is a rehearsal: I am a simulated agent, and I do not understand speech.',
    ],
    [
      'says words as they stand where the client has said so',
      'Robin speaking. This is a rehearsal: I am simulated.',
      'Please hold.',
    ],
  ])('%s', async (_what, greeting, expected) => {
    const client = bench.client(await bench.model())
    await client.configure()
    const text = `This was said so far; do not greet again.\nagent: ${greeting}`
    const item = { type: 'message', role: 'system', content: [{ type: 'input_text', text }] }
    client.send({ type: 'conversation.item.create', item })
    client.send({
      type: 'response.create',
      response: { instructions: 'Say exactly this, and nothing else: Please hold.' },
    })
    expect(await said(client)).toBe(expected)
  })
})

describe('turn taking by the client', () => {
  it("commits at the client's wish, never less than 100 ms, and clears", async () => {
    const client = await opened()
    client.sendAudio(silence(80))
    client.send({ type: 'input_audio_buffer.commit', event_id: 'short' })
    const { error } = await client.event('error')
    expect(error).toMatchObject({ code: 'input_audio_buffer_commit_empty', event_id: 'short' })
    client.sendAudio(silence(80))
    client.send({ type: 'input_audio_buffer.commit' })
    await client.event('input_audio_buffer.committed')
    client.sendAudio(silence(200))
    client.send({ type: 'input_audio_buffer.clear' })
    await client.event('input_audio_buffer.cleared')
    client.send({ type: 'input_audio_buffer.commit', event_id: 'cleared' })
    await client.event('error', (event) => event['error'].event_id === 'cleared')
  })

  it('finds no turns without turn detection', async () => {
    const client = await opened()
    client.sendAudio(await turnOf('Nobody listens for turns.'))
    client.send({ type: 'input_audio_buffer.commit' })
    await client.event('input_audio_buffer.committed')
    expect(client.types().filter((type) => type.includes('speech'))).toEqual([])
  })
})

describe('items by the client', () => {
  it('takes its ids, inserts, deletes, and refuses what cannot be', async () => {
    const client = await opened()
    const item = (id: string) => ({ id, type: 'message', role: 'user', content: [{ type: 'input_text', text: id }] })
    client.send({ type: 'conversation.item.create', item: item('second') })
    client.send({ type: 'conversation.item.create', item: item('first'), previous_item_id: 'root' })
    client.send({ type: 'conversation.item.delete', item_id: 'second' })
    client.send({ type: 'conversation.item.delete', item_id: 'second', event_id: 'twice' })
    client.send({ type: 'conversation.item.create', item: item('x'.repeat(33)), event_id: 'long' })
    const beta = { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hi.' }] }
    client.send({ type: 'conversation.item.create', item: beta, event_id: 'beta' })
    client.send({ type: 'something.else', event_id: 'unknown' })
    client.socket.send('{"type":')
    await client.event('error', ({ error }) => error.code === 'invalid_json')
    const added = client.events.filter(({ type }) => type === 'conversation.item.added')
    expect(added.map((event) => [event['item'].id, event['previous_item_id']])).toEqual([
      ['second', null],
      ['first', null],
    ])
    expect(
      client.events
        .filter(({ type }) => type === 'error')
        .map(({ error }) => [error.event_id, error.code, error.param]),
    ).toEqual([
      ['twice', 'item_delete_invalid_item_id', 'item_id'],
      ['long', 'string_above_max_length', 'item.id'],
      ['beta', 'invalid_value', 'item.content[0].type'],
      ['unknown', 'invalid_value', 'type'],
      [null, 'invalid_json', null],
    ])
  })

  it('hears telephone keys, typed words and instructions', async () => {
    const client = bench.client(
      await bench.model({ brain: { rules: [{ when: { dtmf: '42#' }, say: 'You chose {keys}.' }] } }),
    )
    await client.configure({ output_modalities: ['text'] }, MANUAL)
    const answers: string[] = []
    const ask = async (...events: Record<string, unknown>[]) => {
      for (const event of events) client.send(event)
      const after = client.events.length
      client.send({ type: 'response.create' })
      answers.push(done(await client.event('response.done', () => true, after)).text)
    }
    await ask(userText('Greet the caller with "Ada speaking."'))
    await ask(userText('The caller pressed the keys 4 2 #.', 'system'))
    await ask(userText('I would like a table.'))
    expect(answers).toEqual([
      'Ada speaking.',
      'You chose 4 2 #.',
      'You said: I would like a table. This is a rehearsal, so I only repeat it.',
    ])
  })

  it("says what one response is told to say, not what the session's instructions, repeated before it, quote", async () => {
    const instructions = 'Speak as one does on the telephone. What is known: {"direction":"inbound"}'
    const client = bench.client(await bench.model({ brain: { rules: [] } }))
    await client.configure({ output_modalities: ['text'], instructions }, MANUAL)
    const own = `${instructions}\n\nSay exactly this, and nothing else: Welcome to "The Shop".`
    client.send({ type: 'response.create', response: { instructions: own } })
    expect(done(await client.event('response.done')).text).toMatch(/^Welcome to "The Shop"\./)
  })
})

describe('responses', () => {
  it('writes text when the session wants text', async () => {
    const client = await opened({ output_modalities: ['text'] })
    client.send({ type: 'response.create' })
    const event = await client.event('response.done')
    expect(done(event)).toEqual({ type: 'output_text', text: LONG })
    const deltas = client.events.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta)
    expect(deltas.join('')).toBe(LONG)
    expect(client.types().some((type) => type.includes('audio'))).toBe(false)
    expect(event['response'].usage.output_token_details.audio_tokens).toBe(0)
  })

  it('runs outside of the conversation, beside another one, and leaves no trace in it', async () => {
    const client = await opened({}, MANUAL, 4)
    client.send({ type: 'response.create' })
    const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Sum up.' }] }]
    const response = { conversation: 'none', output_modalities: ['text'], metadata: { purpose: 'summary' }, input }
    client.send({ type: 'response.create', response })
    const outside = await client.event('response.done', (event) => event['response'].metadata?.purpose === 'summary')
    expect(outside['response']).toMatchObject({ status: 'completed', conversation_id: null })
    expect(client.types()).not.toContain('error')
    await client.event('response.done', (event) => event['response'].metadata === null)
    expect(client.events.filter(({ type }) => type === 'conversation.item.added')).toHaveLength(1)
  })

  it('may say something ahead, in a message of its own, and think before it goes on in the same response', async () => {
    const rule = { ahead: { say: 'Let me see.', think_ms: 100 }, say: 'It is open.', call: { name: 'note' } }
    const client = bench.client(
      await bench.model({ brain: { rules: [rule] }, pace: { thinkMs: 20, timesRealTime: 50 } }),
    )
    await client.configure({ tools: [{ type: 'function', name: 'note' }] }, MANUAL)
    client.send({ type: 'response.create' })
    const { response } = await client.event('response.done')
    expect(response.output).toMatchObject([
      { type: 'message', phase: 'commentary', content: [{ transcript: 'Let me see.' }] },
      { type: 'message', phase: 'final_answer', content: [{ transcript: 'It is open.' }] },
      { type: 'function_call', name: 'note' },
    ])
    const places = client.events.filter(({ type }) => type === 'response.output_item.done')
    expect(places.map((event) => [event['output_index'], event['item'].phase])).toEqual([
      [0, 'commentary'],
      [1, 'final_answer'],
      [2, undefined],
    ])
    const [first, second] = response.output.map(({ id }: { id: string }) => id)
    const spoken = client.events.filter(({ type }) => type === 'response.output_audio.delta')
    expect(new Set(spoken.map((event) => event['item_id']))).toEqual(new Set([first, second]))
    expect(response.usage.output_token_details.audio_tokens).toBeGreaterThan(20)
  })

  it('is incomplete at the most tokens that it may have', async () => {
    const client = await opened({ max_output_tokens: 20 })
    client.send({ type: 'response.create' })
    const { response } = await client.event('response.done')
    expect(response).toMatchObject({ status: 'incomplete', status_details: { reason: 'max_output_tokens' } })
    expect(response.output[0].content[0].transcript).not.toBe(LONG)
  })

  it('counts what it read, what it wrote, and what it had read before', async () => {
    const client = await opened({ instructions: 'x'.repeat(4_000) })
    client.send({ type: 'response.create' })
    const first = (await client.event('response.done'))['response'].usage
    expect(first.input_token_details).toMatchObject({ audio_tokens: 0, cached_tokens: 0 })
    expect(first.output_token_details.audio_tokens).toBeGreaterThan(100)
    client.sendAudio(silence(1_000))
    client.send({ type: 'input_audio_buffer.commit' })
    const after = client.events.length
    client.send({ type: 'response.create' })
    const second = (await client.event('response.done', () => true, after))['response'].usage
    expect(second.input_token_details.cached_tokens).toBeGreaterThan(900)
    expect(second.input_token_details.cached_tokens % 64).toBe(0)
    expect(second.input_token_details.audio_tokens).toBe(first.output_token_details.audio_tokens + 10)
    for (const usage of [first, second]) expect(usage.total_tokens).toBe(usage.input_tokens + usage.output_tokens)
  })

  it('gives the same answer again when it was asked again before it said anything', async () => {
    const client = await opened()
    client.send({ type: 'response.create' })
    client.send({ type: 'response.cancel' })
    const first = await client.event('response.done')
    expect(first['response']).toMatchObject({ status: 'cancelled', output: [] })
    client.send({ type: 'response.create' })
    const second = await client.event('response.done', ({ response }) => response.status === 'completed')
    expect(done(second).transcript).toBe(LONG)
  })
})

describe('audio formats', () => {
  it('speaks and hears A-law', async () => {
    const client = await opened({}, vad({ create_response: false }))
    const format = { type: 'audio/pcma' }
    const audio = { input: { format }, output: { format } }
    client.send({ type: 'session.update', session: { type: 'realtime', audio } })
    const phrase = encodeAlaw(decodeMulaw(await turnOf('This is A-law.')))
    client.sendAudio(phrase)
    await client.event('input_audio_buffer.committed')
    client.send({ type: 'response.create' })
    await client.event('response.done')
    expect(client.types()).not.toContain('error')
  })

  it('speaks and hears 24 kHz, of which three samples are one', async () => {
    const model = await bench.model({ brain: { rules: [{ say: 'Three times as many.' }] } })
    const client = bench.client(model)
    await client.event('session.created')
    const encoder = await makeEncoder({ type: 'audio/pcm', rate: 24000 })
    const pcm = Buffer.concat([encoder.push(await turnOf('This is wide.')), encoder.finish()])
    for (let at = 0; at < pcm.length; at += 4_801)
      client.send({ type: 'input_audio_buffer.append', audio: pcm.subarray(at, at + 4_801).toString('base64') })
    await client.event('input_audio_buffer.speech_started')
    await client.event('response.done')
    const deltas = client.events.filter(({ type }) => type === 'response.output_audio.delta')
    const bytes = deltas.reduce((sum, { delta }) => sum + Buffer.from(delta, 'base64').length, 0)
    const mulaw = await bench.speech.say('Three times as many.')
    expect(Math.abs(bytes / 6 - mulaw.length) / 8).toBeLessThan(20)
  })

  it('refuses audio that is no base64', async () => {
    const client = await opened()
    client.send({ type: 'input_audio_buffer.append', audio: 'not base64!' })
    const { error } = await client.event('error')
    expect(error).toMatchObject({ code: 'invalid_value', param: 'audio' })
  })
})
