import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DeltaReader, AUDIO as SPEECH, WORDS } from './audio-delta.ts'

const AUDIO = Buffer.alloc(160, 0xd5).toString('base64')
const MEMBERS = [
  '"type":"response.output_audio.delta"',
  '"event_id":"event_BZK0aQ7"',
  '"response_id":"resp_BZK0"',
  '"item_id":"item_BZK1"',
  '"output_index":0',
  '"content_index":0',
  `"delta":"${AUDIO}"`,
]
const usual = `{${MEMBERS.join(',')}}`
const eventIdFirst = `{${[MEMBERS[1], MEMBERS[0], ...MEMBERS.slice(2)].join(',')}}`
const alphabetical = `{${MEMBERS.toSorted().join(', ')}}`.replaceAll('":', '": ')

type Delta = { responseId: string; itemId: string; audio: string }

function quick(frame: Buffer, reader = new DeltaReader()): Delta | null {
  const payload = reader.read(frame, SPEECH)
  return payload && { responseId: reader.responseId, itemId: reader.itemId, audio: payload.toString('latin1') }
}

/** What JSON says about the same bytes. */
function slow(frame: Buffer): Delta {
  const event = JSON.parse(frame.toString('utf8'))
  expect(event.type).toBe('response.output_audio.delta')
  return { responseId: event.response_id, itemId: event.item_id, audio: event.delta }
}

describe('DeltaReader', () => {
  it.each([
    ['as the server spells it', usual],
    ['with the event id first', eventIdFirst],
    ['sorted and spaced', alphabetical],
    ['without what nobody needs', `{${[MEMBERS[6], MEMBERS[3], MEMBERS[2], MEMBERS[0]].join(',')}}`],
  ])('takes a delta %s without parsing it', (_order, text) => {
    expect(quick(Buffer.from(text))).toEqual({ responseId: 'resp_BZK0', itemId: 'item_BZK1', audio: AUDIO })
  })

  it('reads the same ids and others, one after the other, up to 128 letters', () => {
    const reader = new DeltaReader()
    const long = 'r'.repeat(127)
    for (const id of [`${long}r`, `${long}s`, `${long}s`, 'resp_1', 'resp_2', 'resp_2']) {
      expect(quick(Buffer.from(usual.replace('resp_BZK0', id)), reader)?.responseId).toBe(id)
    }
    expect(quick(Buffer.from(usual.replace('resp_BZK0', `${long}rs`)), reader)).toBeNull()
  })

  it('gives the audio as a view, not as a copy', () => {
    const frame = Buffer.from(usual)
    expect(new DeltaReader().read(frame, SPEECH)?.buffer).toBe(frame.buffer)
  })

  it('tells the ids of each delta, not those of the one before', () => {
    const reader = new DeltaReader()
    const other = usual.replace('resp_BZK0', 'resp_BZK1').replace('item_BZK1', 'item_9')
    expect([usual, usual, other, usual].map((text) => quick(Buffer.from(text), reader)?.responseId)).toEqual([
      'resp_BZK0',
      'resp_BZK0',
      'resp_BZK1',
      'resp_BZK0',
    ])
    expect(quick(Buffer.from(other), reader)?.itemId).toBe('item_9')
  })

  it.each([
    ['an unknown member', usual.replace('}', ',"obfuscation":"x"}')],
    ['a member twice', usual.replace('{', '{"item_id":"item_2",')],
    ['a missing id', usual.replace(`${MEMBERS[3]},`, '')],
    ['another type', usual.replace('audio.delta', 'audio.done')],
    ['an escape in an id', usual.replace('item_BZK1', 'item\\u005f1')],
    ['an escape in the audio', usual.replace(AUDIO, `${AUDIO.slice(0, 4)}\\/${AUDIO.slice(6)}`)],
    ['half a group of base64', usual.replace(AUDIO, AUDIO.slice(0, -1))],
    ['a control character in the audio', usual.replace(AUDIO, `${AUDIO.slice(0, 4)}\n${AUDIO.slice(5)}`)],
    ['a number that is none', usual.replace('"output_index":0', '"output_index":00')],
    ['two spaces', usual.replace('":"resp', '":  "resp')],
    ['more behind it', `${usual}x`],
    ['a missing end', usual.slice(0, -1)],
    ['nothing', ''],
    ['an opened brace', '{'],
  ])('leaves %s to JSON', (_what, text) => {
    expect(quick(Buffer.from(text))).toBeNull()
  })

  it('agrees with JSON on 20,000 mutated deltas: what it takes, JSON reads the same', () => {
    const insert = fc.oneof(
      fc.constantFrom('', ' ', '"', '\\', '{', '}', ',', ':', '=', '0', '\\u0041', '\0', '\\/', 'é', '"a":1,'),
      fc.constantFrom(...MEMBERS.map((member) => `${member},`)),
      fc.string({ maxLength: 3 }),
    )
    const mutation = fc.record({ at: fc.nat(usual.length), remove: fc.nat(3), insert })
    const original = fc.oneof(
      fc.constantFrom(usual, eventIdFirst, alphabetical),
      fc.shuffledSubarray(MEMBERS, { minLength: 5 }).map((members) => `{${members.join(',')}}`),
    )
    const reader = new DeltaReader()
    let taken = 0
    fc.assert(
      fc.property(original, fc.array(mutation, { maxLength: 2 }), (text, mutations) => {
        const mutate = (so: string, { at, remove, insert: more }: { at: number; remove: number; insert: string }) =>
          so.slice(0, at) + more + so.slice(at + remove)
        const frame = Buffer.from(mutations.reduce(mutate, text))
        const delta = quick(frame, reader)
        if (delta === null) return
        taken++
        expect(delta).toEqual(slow(frame))
      }),
      { numRuns: 20_000 },
    )
    expect(taken).toBeGreaterThan(3_000)
  })

  it('agrees with JSON on bytes that are no text', () => {
    const bytes = fc.record({ at: fc.nat(usual.length - 1), byte: fc.nat(255) })
    fc.assert(
      fc.property(bytes, ({ at, byte }) => {
        const frame = Buffer.from(usual)
        frame[at] = byte
        const delta = quick(frame)
        if (delta !== null) expect(delta).toEqual(slow(frame))
      }),
      { numRuns: 5_000 },
    )
  })
})

describe('The words of a delta', () => {
  const text = usual.replace('output_audio.delta', 'output_audio_transcript.delta')
  const frameOf = (words: string) => Buffer.from(text.replace(AUDIO, words))
  const read = (frame: Buffer) => new DeltaReader().read(frame, WORDS)?.toString('latin1') ?? null

  it('are taken without parsing them', () => {
    expect(read(frameOf(" it's 5 o'clock, {yes}: [no] "))).toBe(" it's 5 o'clock, {yes}: [no] ")
    expect(read(frameOf(''))).toBe('')
  })

  it.each([
    ['with an escape', 'say \\"yes\\"'],
    ['with a line break of its own', 'one\ntwo'],
    ['that are more than ASCII', 'grüß Gott'],
  ])('are left to JSON %s', (_what, words) => {
    expect(read(frameOf(words))).toBeNull()
  })

  it('are no audio, and audio is no words', () => {
    expect(new DeltaReader().read(frameOf('yes'), SPEECH)).toBeNull()
    expect(read(Buffer.from(usual))).toBeNull()
  })

  it('are as JSON reads them, whatever byte stands among them', () => {
    for (let byte = 0; byte < 256; byte++) {
      const frame = frameOf('a?b')
      frame[frame.indexOf('?')] = byte
      const words = read(frame)
      if (words !== null) expect(words).toBe(JSON.parse(frame.toString()).delta)
    }
  })
})
