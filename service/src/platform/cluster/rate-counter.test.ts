import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RateWindows } from './rate-counter.ts'

describe('RateWindows', () => {
  it('never lets in more than the limit in any 60 seconds, whenever they come', () => {
    const gaps = fc.array(fc.oneof(fc.integer({ min: 0, max: 1_500 }), fc.integer({ min: 0, max: 70_000 })), {
      maxLength: 200,
    })
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 20 }), fc.integer({ min: 0, max: 999 }), (waits, limit, startMs) => {
        const windows = new RateWindows()
        const admittedMs: number[] = []
        let nowMs = startMs
        for (const wait of waits) {
          nowMs += wait
          if (windows.take('a', limit, nowMs).isAdmitted) admittedMs.push(nowMs)
        }
        for (const [i, atMs] of admittedMs.entries()) {
          const withinMs = admittedMs.slice(i).filter((each) => each < atMs + 60_000)
          expect(withinMs.length).toBeLessThanOrEqual(limit)
        }
      }),
    )
  })

  it('has room again when it says so, and not a second before', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9_000 }), { maxLength: 30 }), (waits) => {
        const windows = new RateWindows()
        let nowMs = 0
        for (const wait of waits) {
          nowMs += wait
          windows.take('a', 5, nowMs)
        }
        const { isAdmitted, resetSeconds } = windows.take('a', 5, nowMs)
        if (isAdmitted) return
        const second = Math.floor(nowMs / 1_000)
        expect(windows.take('a', 5, (second + resetSeconds) * 1_000 - 1).isAdmitted).toBe(false)
        expect(windows.take('a', 5, (second + resetSeconds) * 1_000).isAdmitted).toBe(true)
      }),
    )
  })

  it('counts names apart, counts no refusal, and gives back', () => {
    const windows = new RateWindows()
    expect(windows.take('a', 1, 0)).toEqual({ isAdmitted: true, remaining: 0, resetSeconds: 61 })
    for (let n = 0; n < 10; n += 1) expect(windows.take('a', 1, 30_000).isAdmitted).toBe(false)
    expect(windows.take('b', 1, 30_000).isAdmitted).toBe(true)
    expect(windows.take('a', 1, 61_000).isAdmitted).toBe(true)
    windows.giveBack('a')
    expect(windows.take('a', 1, 61_000).isAdmitted).toBe(true)
  })

  it('forgets names that do not come any more', () => {
    const windows = new RateWindows()
    for (let n = 0; n < 1_000; n += 1) windows.take(`name ${n}`, 1, n)
    windows.take('later', 1, 120_000)
    expect(windows.size).toBe(1)
  })

  it('lets in less from the moment that the limit is lowered', () => {
    const windows = new RateWindows()
    for (let n = 0; n < 10; n += 1) windows.take('a', 10, n * 1_000)
    expect(windows.take('a', 3, 10_000)).toEqual({ isAdmitted: false, remaining: 0, resetSeconds: 58 })
  })
})
