import * as fc from 'fast-check'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { makeBench } from './model-client.fixture.ts'

const bench = makeBench()
afterEach(() => bench.reset())
afterAll(() => bench.close())

const FRAMES = 1_500

const item = { id: 'item_1', type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello.' }] }
const session = {
  type: 'realtime',
  instructions: 'Be kind.',
  output_modalities: ['text'],
  tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }],
  tool_choice: { type: 'function', name: 'f' },
  truncation: { type: 'retention_ratio', retention_ratio: 0.5 },
  audio: {
    input: {
      format: { type: 'audio/pcma' },
      turn_detection: { type: 'server_vad', threshold: 0.4 },
      noise_reduction: null,
    },
    output: { format: { type: 'audio/pcm', rate: 24_000 }, voice: { id: 'voice_1' }, speed: 1.1 },
  },
}
const VALID = [
  { type: 'session.update', session },
  { type: 'input_audio_buffer.append', audio: Buffer.alloc(320, 0xd5).toString('base64') },
  { type: 'input_audio_buffer.commit' },
  { type: 'conversation.item.create', item },
  { type: 'conversation.item.create', item: { type: 'function_call', name: 'f', arguments: '{}', call_id: 'call_1' } },
  { type: 'conversation.item.create', item: { type: 'function_call_output', call_id: 'call_1', output: 'x' } },
  {
    type: 'conversation.item.create',
    item: { type: 'message', role: 'user', content: [{ type: 'input_audio', audio: 'AAAA' }] },
  },
  { type: 'conversation.item.retrieve', item_id: 'item_1' },
  { type: 'conversation.item.truncate', item_id: 'item_1', content_index: 0, audio_end_ms: 10 },
  { type: 'conversation.item.delete', item_id: 'item_1' },
  {
    type: 'response.create',
    response: { input: [{ type: 'item_reference', id: 'item_1' }], conversation: 'none', metadata: { a: 'b' } },
  },
  { type: 'response.create', response: { instructions: 'Say: "Yes."', max_output_tokens: 10 } },
  { type: 'response.cancel' },
]

/** A valid event with one thing in it replaced or removed, anywhere. */
const mutated = fc
  .tuple(fc.constantFrom(...VALID), fc.nat(), fc.option(fc.jsonValue({ maxDepth: 2 })))
  .map(([event, at, value]) => {
    const copy: unknown = structuredClone(event)
    const places = placesIn(copy)
    const place = places[at % places.length]
    if (place && value === null) delete place.owner[place.key]
    else if (place) place.owner[place.key] = value
    return copy
  })

function placesIn(value: unknown): { owner: Record<string, unknown>; key: string }[] {
  if (typeof value !== 'object' || value === null) return []
  const owner = value as Record<string, unknown>
  return Object.keys(owner).flatMap((key) => [{ owner, key }, ...placesIn(owner[key])])
}

describe('a session', () => {
  it('answers any event with an event or with a refusal that names a fault of the client, and lives', async () => {
    const model = await bench.model({ pace: { thinkMs: 0, timesRealTime: 1_000 } })
    const client = bench.client(model)
    await client.event('session.created')
    for (const event of fc.sample(fc.oneof(mutated, fc.constantFrom(...VALID)), { numRuns: FRAMES, seed: 11 }))
      client.socket.send(JSON.stringify(event))
    client.send({ type: 'input_audio_buffer.clear', event_id: 'last' })
    await client.event('input_audio_buffer.cleared')
    const codes = new Set(model.sessions[0]?.record.errors.map(({ code }) => code))
    expect(codes).not.toContain('server_error')
    expect(codes).toContain('unknown_parameter')
    expect(codes.size).toBeGreaterThan(8)
    expect(client.closed).toBeNull()
  })
})
