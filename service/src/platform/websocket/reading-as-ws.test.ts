import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesOfFrame, cut, type Frame, read, readByWs } from './reading.fixture.ts'

const mask = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.constantFrom(125, 126, 127, 65_535).map((length) => 'x'.repeat(length)),
)
const control = fc.record({
  first: fc.constantFrom(0x89, 0x8a),
  payload: fc.uint8Array({ maxLength: 125 }).map((bytes) => Buffer.from(bytes)),
})
const lengths = fc.array(fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 9, max: 5_000 })), {
  minLength: 1,
  maxLength: 20,
})

type Piece = Pick<Frame, 'first' | 'payload'>

/** A message in pieces of these lengths, control frames after each of them. */
function pieces(payload: Buffer, isBinary: boolean, pieceBytes: number, between: readonly Piece[]): Piece[] {
  const parts = payload.length === 0 ? [payload] : cut(payload, [pieceBytes])
  return parts.flatMap((part, at) => {
    const opcode = at > 0 ? 0 : isBinary ? 2 : 1
    const first = (at === parts.length - 1 ? 0x80 : 0) | opcode
    return [{ first, payload: part }, ...(at < 4 ? between : [])]
  })
}

const message = fc
  .tuple(text, fc.boolean(), fc.integer({ min: 1, max: 400 }), fc.array(control, { maxLength: 2 }), fc.boolean())
  .map(([words, isBinary, pieceBytes, between, isWhole]) => {
    const payload = Buffer.from(words)
    const enough = Math.max(pieceBytes, Math.ceil(payload.length / 60))
    return pieces(payload, isBinary, isWhole ? payload.length + 1 : enough, between)
  })

function streamOf(frames: readonly Piece[], masks: readonly number[], isMasked: boolean): Buffer {
  return Buffer.concat(
    frames.map((frame, at) => bytesOfFrame({ ...frame, mask: isMasked ? (masks[at % masks.length] ?? 0) : null })),
  )
}

const stream = fc
  .tuple(
    fc.array(message, { minLength: 1, maxLength: 6 }),
    fc.array(mask, { minLength: 1, maxLength: 5 }),
    fc.boolean(),
  )
  .map(([messages, masks, isMasked]) => ({ bytes: streamOf(messages.flat(), masks, isMasked), isMasked }))

const expecting = (isMasked: boolean) => ({ expects: isMasked ? 'masked' : 'unmasked' }) as const

describe('A reader reads as `ws` does', () => {
  it('what is right, however it is cut', () => {
    fc.assert(
      fc.property(stream, lengths, ({ bytes, isMasked }, cuts) => {
        const how = expecting(isMasked)
        const expected = readByWs([bytes], how)
        expect(expected.fault).toBeNull()
        expect(read([bytes], how)).toEqual(expected)
        expect(read(cut(bytes, cuts), how)).toEqual(expected)
      }),
      { numRuns: 400 },
    )
  })

  // One thing is judged otherwise: a length whose first bit is set breaks the protocol; `ws` takes it for a large one.
  it('what was damaged on its way, 20,000 times', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255), fc.constantFrom('set', 'flip', 'drop', 'add')), {
      minLength: 1,
      maxLength: 6,
    })
    const small = fc
      .tuple(
        fc.array(
          fc.record({
            first: fc.constantFrom(0x81, 0x82, 0x01, 0x80, 0x00, 0x89, 0x8a, 0x88),
            payload: fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
          }),
          { minLength: 1, maxLength: 6 },
        ),
        mask,
        fc.boolean(),
      )
      .map(([frames, key, isMasked]) => ({ bytes: streamOf(frames, [key], isMasked), isMasked }))
    const verdicts = new Map<string, number>()
    fc.assert(
      fc.property(small, damage, lengths, ({ bytes, isMasked }, damages, cuts) => {
        const damaged = damages.reduce(
          (all, [at, byte, how]) => damagedAt(all, at % (all.length + 1), byte, how),
          bytes,
        )
        const how = { ...expecting(isMasked), limits: { maxMessageBytes: 100, maxFragments: 1 } }
        const expected = readByWs([damaged], how)
        const actual = read(cut(damaged, cuts), how)
        const verdict = `${expected.fault} ${actual.fault}`
        verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1)
        expect(actual.lines).toEqual(expected.lines)
        if (verdict !== '1009 1002') expect(actual.fault).toBe(expected.fault)
        expect(read([damaged], how)).toEqual(actual)
      }),
      { numRuns: 20_000 },
    )
    for (const verdict of ['null null', '1002 1002', '1007 1007', '1009 1009', '1008 1008'])
      expect(verdicts.get(verdict) ?? 0).toBeGreaterThan(0)
  }, 120_000)
})

function damagedAt(bytes: Buffer, at: number, byte: number, how: string): Buffer {
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
  if (how === 'add') return Buffer.concat([before, Buffer.from([byte]), after])
  if (how === 'drop') return Buffer.concat([before, after.subarray(1)])
  const changed = how === 'set' ? byte : (after[0] ?? 0) ^ (1 << (byte % 8))
  return Buffer.concat([before, Buffer.from([changed]), after.subarray(1)])
}
