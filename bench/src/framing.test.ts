import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FrameReader } from './frame-reader.ts'
import { encodeFrame, headerBytes, OPCODE } from './framing.ts'

const MASK = 0x12_34_56_78

function readAll(stream: Buffer, cuts: readonly number[], masked: boolean): Buffer[] {
  const messages: Buffer[] = []
  const reader = new FrameReader({
    masked,
    onMessage: (_opcode, bytes, start, end) => messages.push(Buffer.from(bytes.subarray(start, end))),
  })
  const ends = [...cuts.map((cut) => cut % stream.length).toSorted((a, b) => a - b), stream.length]
  let from = 0
  for (const end of ends) {
    reader.push(Buffer.from(stream.subarray(from, end)))
    from = end
  }
  return messages
}

const payloads = fc.array(
  fc
    .oneof(fc.constantFrom(0, 1, 125, 126, 127), fc.integer({ min: 0, max: 2_000 }))
    .map((size) => Buffer.alloc(size, size)),
  { minLength: 1, maxLength: 6 },
)

describe('frames', () => {
  it('come out as they went in, however the stream is cut into chunks', () => {
    fc.assert(
      fc.property(
        payloads,
        fc.array(fc.nat()),
        fc.option(fc.integer({ min: 0, max: 2 ** 32 - 1 })),
        (sent, cuts, mask) => {
          const stream = Buffer.concat(sent.map((payload) => encodeFrame(OPCODE.text, payload, mask ?? undefined)))
          expect(readAll(stream, cuts, mask !== null)).toEqual(sent)
        },
      ),
      { numRuns: 300 },
    )
  })

  it.each([
    [125, 2],
    [126, 4],
    [65_535, 4],
    [65_536, 10],
  ])('of %i bytes have a header of %i bytes, and four more with a mask', (payloadBytes, header) => {
    const payload = Buffer.alloc(payloadBytes, 7)
    expect(headerBytes(payloadBytes, false)).toBe(header)
    expect(encodeFrame(OPCODE.text, payload, MASK)).toHaveLength(header + 4 + payloadBytes)
    expect(readAll(encodeFrame(OPCODE.text, payload, MASK), [1, 5, 9, 30_000], true)).toEqual([payload])
  })

  it('look on the wire as RFC 6455 shows them in its example', () => {
    expect(encodeFrame(OPCODE.text, Buffer.from('Hello'), 0x37fa213d).toString('hex')).toBe('818537fa213d7f9f4d5158')
  })

  it('in fragments are joined, with a ping between them let through', () => {
    const first = encodeFrame(OPCODE.text, Buffer.from('Hel'))
    first[0] = OPCODE.text
    const stream = Buffer.concat([
      first,
      encodeFrame(OPCODE.ping, Buffer.from('?')),
      encodeFrame(OPCODE.continuation, Buffer.from('lo')),
    ])
    expect(readAll(stream, [4], false).map(String)).toEqual(['?', 'Hello'])
  })

  it.each([
    ['a mask that nobody wants', encodeFrame(OPCODE.text, Buffer.from('x'), MASK), false],
    ['a mask that is missing', encodeFrame(OPCODE.text, Buffer.from('x')), true],
    ['a reserved bit', Buffer.from([0xc1, 0x00]), false],
    ['a continuation of nothing', encodeFrame(OPCODE.continuation, Buffer.from('x')), false],
    ['a message over the limit', encodeFrame(OPCODE.text, Buffer.alloc(1_048_577)), false],
  ])('with %s are refused', (_what, stream, masked) => {
    expect(() => readAll(stream, [], masked)).toThrow()
  })
})
