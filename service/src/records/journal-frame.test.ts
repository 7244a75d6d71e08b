import { describe, expect, it } from 'vitest'
import { frame, unframe } from './journal-frame.ts'

const VALUES = [{ text: 'Grüezi,\nwas «kostet» 🪑?' }, { done: [1, 2] }, 'x'.repeat(10_000)]
const LINES = VALUES.map(frame)

describe('frames', () => {
  it('are read as they were written, one a line', () => {
    expect(LINES.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true)
    expect(unframe(LINES.join(''))).toEqual({ values: VALUES, damaged: 0 })
    expect(unframe('')).toEqual({ values: [], damaged: 0 })
  })

  it('end where the writer was killed: at whichever byte that was, those before are read and nothing is damaged', () => {
    const [first = '', second = ''] = LINES
    const bytes = Buffer.from(first + second)
    for (let length = Buffer.byteLength(first); length < bytes.length; length += 1)
      expect(unframe(bytes.subarray(0, length).toString())).toEqual({ values: VALUES.slice(0, 1), damaged: 0 })
  })

  it('tell a changed byte, wherever it is, and the others are read', () => {
    const [first = '', second = '', third = ''] = LINES
    const bytes = Buffer.from(second)
    for (let at = 0; at < bytes.length - 1; at += 1) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 1
      // A line's end in its middle makes two lines of it.
      const { values, damaged } = unframe(first + changed.toString() + third)
      expect(values).toEqual([VALUES[0], VALUES[2]])
      expect(damaged).toBeGreaterThanOrEqual(1)
    }
  })
})
