import { describe, expect, it } from 'vitest'
import { partOf, READ_ROOM } from './read-room.ts'

const shown = (view: Buffer) => [view.byteOffset, view.length]

describe('a part of what was read', () => {
  it('is the same view each time, of whatever was read there since', () => {
    READ_ROOM.write('one', 8)
    const piece = partOf(READ_ROOM, 0, 100)
    const view = partOf(piece, 8, 11)
    expect(view.toString()).toBe('one')
    READ_ROOM.write('two', 8)
    expect(partOf(partOf(READ_ROOM, 4, 50), 4, 7)).toBe(view)
    expect(view.toString()).toBe('two')
  })

  it('lies where it is asked for, wherever in the room and however many others there were', () => {
    for (let at = 0; at < READ_ROOM.length; at += 13)
      for (const length of [0, 1, 214, READ_ROOM.length - at]) {
        const end = Math.min(READ_ROOM.length, at + length)
        expect(shown(partOf(READ_ROOM, at, end))).toEqual(shown(READ_ROOM.subarray(at, end)))
      }
  })

  it('is cut out of what was read elsewhere', () => {
    const elsewhere = Buffer.from('somewhere else')
    expect(partOf(elsewhere, 0, 4).toString()).toBe('some')
    expect(partOf(elsewhere, 0, 4)).not.toBe(partOf(elsewhere, 0, 4))
    expect(partOf(elsewhere.subarray(10), 0, 4).toString()).toBe('else')
  })
})
