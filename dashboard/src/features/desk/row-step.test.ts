import { describe, expect, it } from 'vitest'
import { nextRow } from './row-step.ts'

type Step = { does: string; by: 1 | -1; at: number; rows?: string[]; to: string }

const ROWS = ['a', 'b', 'c', 'd']

describe('a step along the rows', () => {
  it.each<Step>([
    { does: 'leads to the next', by: 1, at: 1, to: 'c' },
    { does: 'leads to the one before', by: -1, at: 1, to: 'a' },
    { does: 'stays at the end', by: 1, at: 3, to: 'd' },
    { does: 'stays at the beginning', by: -1, at: 0, to: 'a' },
    { does: 'leads to the next of a row that has left the list', by: 1, at: 1, rows: ['a', 'c', 'd'], to: 'c' },
    { does: 'leads to the one before a row that has left the list', by: -1, at: 1, rows: ['a', 'c', 'd'], to: 'a' },
    { does: 'passes by what has left with it', by: 1, at: 1, rows: ['a', 'd'], to: 'd' },
    { does: 'ends where nothing comes after what has left', by: 1, at: 2, rows: ['a', 'b'], to: 'b' },
    { does: 'goes on from where the row stands now', by: 1, at: 1, rows: ['new', ...ROWS], to: 'c' },
  ])('$does', ({ by, at, to, rows = ROWS }) => {
    expect(rows[nextRow(rows, by, { rows: ROWS, at })]).toBe(to)
  })

  it('begins with the first where none was gone to, or nothing of what there was then is there', () => {
    expect(nextRow(ROWS, 1, null)).toBe(0)
    expect(nextRow(ROWS, 1, { rows: ['x', 'y'], at: 0 })).toBe(0)
  })
})
