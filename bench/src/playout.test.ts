import { describe, expect, it } from 'vitest'
import { Playout } from './playout.ts'

const HALF_SECOND_BYTES = 4_000

describe('Playout', () => {
  it('holds a mark until all audio before it has played', () => {
    const playout = new Playout()
    playout.audio(HALF_SECOND_BYTES, 1_000)
    expect(playout.mark('m1', 1_000)).toBe(false)
    playout.audio(HALF_SECOND_BYTES, 1_060)
    expect(playout.mark('m2', 1_060)).toBe(false)
    expect(playout.due(1_499)).toBeUndefined()
    expect(playout.due(1_500)).toBe('m1')
    expect(playout.due(1_999)).toBeUndefined()
    expect(playout.due(2_000)).toBe('m2')
    expect(playout.due(9_000)).toBeUndefined()
  })

  it('answers a mark at once when nothing is left to play', () => {
    const playout = new Playout()
    expect(playout.mark('m1', 1_000)).toBe(true)
    playout.audio(HALF_SECOND_BYTES, 1_000)
    expect(playout.mark('m2', 1_500)).toBe(true)
  })

  it('gives all marks back at a clear, and plays what comes after it from then on', () => {
    const playout = new Playout()
    playout.audio(HALF_SECOND_BYTES, 1_000)
    playout.mark('m1', 1_000)
    playout.mark('m2', 1_000)
    expect(playout.clear(1_100)).toEqual(['m1', 'm2'])
    expect(playout.due(9_000)).toBeUndefined()
    playout.audio(HALF_SECOND_BYTES, 1_200)
    playout.mark('m3', 1_200)
    expect(playout.due(1_699)).toBeUndefined()
    expect(playout.due(1_700)).toBe('m3')
  })
})
