import { describe, expect, it } from 'vitest'
import { playedTurn } from './played-turn.ts'

const GREETING = { seq: 1, start_ms: 20, end_ms: 3_000 }
const CALLER = { seq: 2, start_ms: 3_400, end_ms: 4_800 }

describe('what is heard of a transcript', () => {
  it('is the turn that began last, and nothing before the first', () => {
    const at = (ms: number) => playedTurn([GREETING, CALLER], ms)
    expect([at(-1), at(19), at(20), at(3_200), at(3_400), at(60_000)]).toEqual([null, null, 1, 1, 2, 2])
  })

  it('is no note and no whisper, of which there is no sound', () => {
    const note = { seq: 2, start_ms: 1_000, end_ms: 1_000 }
    expect(playedTurn([GREETING, note], 1_500)).toBe(1)
  })

  it('is not what began before it, though its words came later', () => {
    const late = { seq: 3, start_ms: 3_100, end_ms: 3_300 }
    const at = (ms: number) => playedTurn([GREETING, CALLER, late], ms)
    expect([at(3_200), at(4_000)]).toEqual([3, 2])
  })
})
