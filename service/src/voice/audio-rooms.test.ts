import { describe, expect, it } from 'vitest'
import { AudioRooms } from './audio-rooms.ts'

describe('Rooms for audio', () => {
  it('are used again for whatever fits into as many steps', () => {
    const rooms = new AudioRooms()
    const room = rooms.take(5_336)
    expect(room).toHaveLength(5_632)
    rooms.giveBack(room)
    expect(rooms.take(2_136)).not.toBe(room)
    expect(rooms.take(5_500)).toBe(room)
    expect(rooms.take(5_500)).not.toBe(room)
  })

  it('are kept as far as they are not too many', () => {
    const rooms = new AudioRooms(2_048)
    const taken = [rooms.take(1_000), rooms.take(1_000), rooms.take(1_000)]
    for (const room of taken) rooms.giveBack(room)
    expect(taken.filter(() => taken.includes(rooms.take(1_000)))).toHaveLength(2)
  })

  it('make place for those of which there was none', () => {
    const rooms = new AudioRooms(2_048)
    const before = [rooms.take(500), rooms.take(500), rooms.take(500), rooms.take(500)]
    const now = [rooms.take(1_000), rooms.take(1_000)]
    for (const room of [...before, ...now]) rooms.giveBack(room)
    expect(rooms.take(500)).toHaveLength(512)
    expect([rooms.take(1_000), rooms.take(1_000)].filter((room) => now.includes(room))).toHaveLength(2)
    // Of these there was none just now, so that they are kept.
    for (const room of [...now, ...before]) rooms.giveBack(room)
    expect([1, 2, 3, 4].filter(() => before.includes(rooms.take(500)))).toHaveLength(4)
  })

  it('are not kept that are larger than all that may be', () => {
    const rooms = new AudioRooms(2_048)
    const [small, large] = [rooms.take(500), rooms.take(4_000)]
    rooms.giveBack(small)
    rooms.giveBack(large)
    expect([rooms.take(500) === small, rooms.take(4_000) === large]).toEqual([true, false])
  })
})
