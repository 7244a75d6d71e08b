import { describe, expect, it } from 'vitest'
import { closeFrame, controlFrame, framesBytes, textFrame, writeFrames } from './frames.ts'
import { nextMask } from './masking.ts'
import { OPCODE } from './opcodes.ts'
import { bytesOfFrame, read } from './reading.fixture.ts'

const KEY = 0x37fa213d
const hello = [Buffer.from('He'), Buffer.from(''), Buffer.from('llo')]

describe('A frame', () => {
  it('is that of the examples of RFC 6455, 5.7', () => {
    expect(textFrame(hello, null).toString('hex')).toBe('810548656c6c6f')
    expect(textFrame(hello, () => KEY).toString('hex')).toBe('818537fa213d7f9f4d5158')
    expect(controlFrame(OPCODE.ping, Buffer.from('Hello'), null).toString('hex')).toBe('890548656c6c6f')
    expect(controlFrame(OPCODE.pong, Buffer.from('Hello'), () => KEY).toString('hex')).toBe('8a8537fa213d7f9f4d5158')
  })

  it.each([0, 1, 125, 126, 127, 65_535, 65_536, 100_001])('of %i bytes says its length, masked or not', (length) => {
    const payload = Buffer.alloc(length, 'abcdefg')
    for (const mask of [null, KEY, -2]) {
      const frame = textFrame([payload.subarray(0, 3), payload.subarray(3)], mask === null ? null : () => mask)
      expect(frame.equals(bytesOfFrame({ first: 0x81, payload, mask }))).toBe(true)
    }
  })

  it('stands behind another in one buffer, each with a mask of its own', () => {
    let mask = 0
    const messages = [hello, [Buffer.from('x'.repeat(200))], []]
    const masks = () => ++mask
    const frames = Buffer.alloc(framesBytes(messages, masks))
    writeFrames(frames, messages, masks)
    const payloads = ['Hello', 'x'.repeat(200), ''].map((payload) => Buffer.from(payload))
    const expected = payloads.map((payload, at) => bytesOfFrame({ first: 0x81, payload, mask: at + 1 }))
    expect(frames.equals(Buffer.concat(expected))).toBe(true)
  })

  it('is never masked like another', () => {
    const masks = new Set(Array.from({ length: 10_000 }, () => nextMask()))
    // Of so many at random, two are the same once in a hundred times; ten never are.
    expect(masks.size).toBeGreaterThan(9_990)
  })

  it('says goodbye with a code and a reason, which is cut between two characters', () => {
    const reason = `${'x'.repeat(122)}ä`
    expect(read([closeFrame(1000, reason, () => KEY)]).lines).toEqual([`close 1000 ${'x'.repeat(122)}`])
    expect(read([closeFrame(4401, 'no', () => KEY)]).lines).toEqual(['close 4401 no'])
    expect(closeFrame(1005, '', null).toString('hex')).toBe('8800')
  })
})
