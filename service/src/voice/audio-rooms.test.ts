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
})
