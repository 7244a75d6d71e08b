import { describe, expect, it } from 'vitest'
import { applyMask } from './masking.ts'

/** No multiple of four, so that the last bytes are in no word. */
const MEMORY_BYTES = 43
const MASKS = [0x01020304, 0x80ff7f01 | 0, -1, 0]

describe('A mask', () => {
  it('is laid over bytes wherever they begin and end in their memory, and over no others', () => {
    for (const mask of MASKS) {
      const key = [24, 16, 8, 0].map((shift) => (mask >>> shift) & 0xff)
      for (let viewAt = 0; viewAt < 5; viewAt++) {
        for (let start = 0; start < 6; start++) {
          for (let end = start; end <= MEMORY_BYTES - viewAt; end++) {
            const memory = new Uint8Array(MEMORY_BYTES).map((_, at) => at * 7)
            const expected = memory.map((byte, at) => {
              const isMasked = at >= viewAt + start && at < viewAt + end
              return isMasked ? byte ^ (key[(at - viewAt - start) % 4] as number) : byte
            })
            applyMask(Buffer.from(memory.buffer, viewAt), start, end, mask)
            if (!Buffer.from(memory).equals(Buffer.from(expected))) {
              expect.unreachable(`mask ${mask}, view at ${viewAt}, from ${start} to ${end}`)
            }
          }
        }
      }
    }
  })

  it('is laid over several memories in turn', () => {
    const memories = [16, 17, 18].map((bytes) => Buffer.from(new ArrayBuffer(bytes)))
    for (let round = 0; round < 3; round++) {
      for (const memory of memories) applyMask(memory, 1, memory.length, 0x01020304)
    }
    // Laid over a number of times that is odd.
    for (const memory of memories) expect([...memory.subarray(0, 6)]).toEqual([0, 1, 2, 3, 4, 1])
  })
})
