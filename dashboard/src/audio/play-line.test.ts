import { describe, expect, it } from 'vitest'
import { PlayLine } from './play-line.ts'

const FRAME_S = 0.02

describe('PlayLine', () => {
  it('plays piece behind piece, however unevenly they come', () => {
    const line = new PlayLine({ mostAheadS: 600 })
    const starts = [10, 10.001, 10.055, 10.056].map((nowS) => line.place(FRAME_S, nowS) ?? Number.NaN)
    for (const [index, start] of starts.entries()) expect(start).toBeCloseTo(10.06 + index * FRAME_S)
  })

  it('waits a moment again after it ran dry', () => {
    const line = new PlayLine({ mostAheadS: 600 })
    line.place(FRAME_S, 10)
    expect(line.place(FRAME_S, 12)).toBeCloseTo(12.06)
  })

  it('passes a mark when what came before it was played, once', () => {
    const line = new PlayLine({ mostAheadS: 600 })
    line.place(FRAME_S, 10)
    line.mark('a')
    line.place(FRAME_S, 10)
    line.mark('b')
    expect(line.passed(10.07)).toEqual([])
    expect(line.passed(10.081)).toEqual(['a'])
    expect(line.passed(10.2)).toEqual(['b'])
    expect(line.passed(11)).toEqual([])
  })

  it('passes a mark of an empty line at once', () => {
    const line = new PlayLine({ mostAheadS: 600 })
    line.mark('a')
    expect(line.passed(0)).toEqual(['a'])
  })

  it('has nothing left when it was cleared, and tells the marks that were on it', () => {
    const line = new PlayLine({ mostAheadS: 600 })
    line.place(30, 10)
    line.mark('a')
    expect(line.clear()).toEqual(['a'])
    expect(line.place(FRAME_S, 10.5)).toBeCloseTo(10.56)
    expect(line.passed(100)).toEqual([])
  })

  it('leaves out what is further ahead than somebody who listens live may be', () => {
    const line = new PlayLine({ mostAheadS: 0.1 })
    const placed = Array.from({ length: 10 }, () => line.place(FRAME_S, 10))
    expect(placed.filter((start) => start !== null)).toHaveLength(3)
    expect(line.place(FRAME_S, 10.05)).not.toBeNull()
  })

  it.each([
    ['a second, of what nobody would miss', { isQuiet: true, withinS: 2 }],
    ['some seconds, of speech without a pause', { isQuiet: false, withinS: 6 }],
  ])('is as soon as before after a hiccup, within %s', (_name, { isQuiet, withinS }) => {
    const line = new PlayLine({ mostAheadS: 0.3, aimS: 0.12 })
    /** Pieces come at the speed at which they are played. */
    const play = (fromS: number, toS: number) => {
      let waitsS = Number.NaN
      for (let nowS = fromS; nowS < toS; nowS += FRAME_S) {
        const startS = line.place(FRAME_S, nowS, { isQuiet })
        if (startS !== null) waitsS = startS - nowS
      }
      return waitsS
    }
    expect(play(0, 10)).toBeCloseTo(0.06)
    // What was held up comes at once.
    for (let held = 0; held < 45; held += 1) line.place(FRAME_S, 10.9, { isQuiet })
    expect(play(10.9, 11.5)).toBeGreaterThan(0.2)
    expect(play(11.5, 10.9 + withinS)).toBeLessThanOrEqual(0.121)
  })

  it('leaves nothing out for what the network holds up for a moment now and then', () => {
    const line = new PlayLine({ mostAheadS: 0.3, aimS: 0.12 })
    // Ten pieces at once, five times a second.
    const placed = Array.from({ length: 500 }, (_each, n) =>
      line.place(FRAME_S, Math.floor(n / 10) / 5, { isQuiet: true }),
    )
    expect(placed.filter((start) => start === null)).toEqual([])
  })
})
