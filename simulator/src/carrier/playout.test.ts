import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FRAME_BYTES, SILENCE } from '../audio/mulaw.ts'
import { MOST_BUFFERED_BYTES, Playout } from './playout.ts'

const audio = (bytes: number, value = 1) => new Uint8Array(bytes).fill(value)

describe('Playout', () => {
  it('plays what was queued in order, at 160 bytes a frame, and silence after it', () => {
    const playout = new Playout()
    playout.add(audio(200, 1))
    playout.add(audio(40, 2))
    expect(playout.play().frame).toEqual(audio(160, 1))
    const second = playout.play()
    expect([...second.frame.subarray(0, 80)]).toEqual([...audio(40, 1), ...audio(40, 2)])
    expect(new Set(second.frame.subarray(80))).toEqual(new Set([SILENCE]))
    expect(second.seams).toEqual([40])
    expect(playout.playedBytes).toBe(240)
  })

  it('gives a mark back with the frame after the last of its audio', () => {
    const playout = new Playout()
    playout.add(audio(FRAME_BYTES * 2))
    expect(playout.mark('m')).toBe(false)
    expect(playout.play().marks).toEqual([])
    expect(playout.play().marks).toEqual([])
    expect(playout.play().marks).toEqual(['m'])
  })

  it('gives a mark inside a frame back when that frame was played', () => {
    const playout = new Playout()
    playout.add(audio(100))
    playout.mark('a')
    playout.add(audio(300))
    playout.mark('b')
    expect([playout.play(), playout.play(), playout.play(), playout.play()].map(({ marks }) => marks)).toEqual([
      [],
      ['a'],
      [],
      ['b'],
    ])
  })

  it('echoes a mark at once when nothing is buffered', () => {
    const playout = new Playout()
    expect(playout.mark('m')).toBe(true)
    playout.add(audio(FRAME_BYTES))
    playout.play()
    expect(playout.mark('still playing')).toBe(false)
    expect(playout.play().marks).toEqual(['still playing'])
    expect(playout.mark('m')).toBe(true)
  })

  it('hands back every outstanding mark in order on clear and plays nothing more', () => {
    const playout = new Playout()
    playout.add(audio(100))
    playout.mark('a')
    playout.add(audio(800))
    playout.mark('b')
    playout.mark('c')
    playout.play()
    expect(playout.clear()).toEqual({ marks: ['a', 'b', 'c'], droppedBytes: 740 })
    expect(playout.play()).toMatchObject({ playedBytes: 0, marks: [] })
  })

  it('gives back every mark once and in order, and loses no byte, whatever comes between', () => {
    const step = fc.oneof(
      fc.record({ add: fc.integer({ min: 0, max: 700 }) }),
      fc.record({ mark: fc.constant(true) }),
      fc.record({ play: fc.integer({ min: 1, max: 6 }) }),
      fc.record({ clear: fc.constant(true) }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const playout = new Playout()
        const echoed: string[] = []
        const counts = { marks: 0, added: 0, dropped: 0 }
        for (const each of [...steps, { play: 400 }]) {
          if ('add' in each && playout.add(audio(each.add))) counts.added += each.add
          if ('mark' in each && playout.mark(`${counts.marks++}`)) echoed.push(`${counts.marks - 1}`)
          if ('play' in each) for (let i = 0; i < each.play; i++) echoed.push(...playout.play().marks)
          if ('clear' in each) {
            const cleared = playout.clear()
            echoed.push(...cleared.marks)
            counts.dropped += cleared.droppedBytes
          }
        }
        expect(echoed).toEqual(Array.from({ length: counts.marks }, (_, i) => `${i}`))
        expect(playout.playedBytes + counts.dropped).toBe(counts.added)
      }),
      { numRuns: 1000 },
    )
  })

  it('discards what comes when ten minutes are buffered', () => {
    const playout = new Playout()
    expect(playout.add(audio(MOST_BUFFERED_BYTES))).toBe(true)
    expect(playout.add(audio(1))).toBe(false)
    expect(playout.bufferedBytes).toBe(MOST_BUFFERED_BYTES)
  })
})
