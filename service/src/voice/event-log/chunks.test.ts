import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { ChunkRooms, OpenChunk, packChunk, unpackChunks } from './chunks.ts'

const TEXT = 'a line of a log\n'.repeat(1_000)

/** What array buffers hold when all is gone that does not outlive two quick collections. */
function outliving(work: () => void): number {
  setFlagsFromString('--expose-gc')
  const collect: (how: { type: 'minor' }) => void = runInNewContext('gc')
  const settled = () => {
    for (let count = 0; count < 3; count += 1) collect({ type: 'minor' })
    return process.memoryUsage().arrayBuffers
  }
  const before = settled()
  work()
  return settled() - before
}

describe('packing a chunk', () => {
  it('leaves no memory behind for the slow collector', () => {
    packChunk(TEXT)
    const left = outliving(() => {
      for (let count = 0; count < 50; count += 1) packChunk(TEXT)
    })
    // What Node packs with writes to 32 KiB.
    expect(left).toBeLessThan(10 * 32 * 1024)
  })
})

describe('an open chunk', () => {
  it('has the room of one that was closed, and nothing of what was in it or comes for it later', () => {
    const rooms = new ChunkRooms()
    const first = new OpenChunk(rooms)
    first.add('of the first\n')
    expect(unpackChunks(first.close() ?? Buffer.alloc(0))).toBe('of the first\n')
    const second = new OpenChunk(rooms)
    expect(second.add('second\n')).toBe(true)
    expect(first.add('later\n')).toBe(false)
    expect([first.take(), first.close()]).toEqual([null, null])
    const third = new OpenChunk(rooms)
    third.add('of the third\n')
    expect(unpackChunks(second.close() ?? Buffer.alloc(0))).toBe('second\n')
    expect(unpackChunks(third.close() ?? Buffer.alloc(0))).toBe('of the third\n')
  })
})
