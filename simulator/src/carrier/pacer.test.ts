import { describe, expect, it } from 'vitest'
import type { Clock } from './clock.ts'
import { startPacer } from './pacer.ts'
import { makeRandom } from './random.ts'

/** A clock that stands still until it is moved. */
function handClock() {
  let nowMs = 0
  const timers = new Set<{ dueMs: number; run: () => void }>()
  const clock: Clock = {
    nowMs: () => nowMs,
    date: () => new Date(nowMs),
    pending: () => timers.size,
    after(delayMs, run) {
      const timer = { dueMs: nowMs + Math.max(0, delayMs), run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
  }
  /** What falls due is done at its instant, and what was due before it at once. */
  function advance(ms: number): void {
    const endMs = nowMs + ms
    for (;;) {
      const [next] = [...timers].sort((a, b) => a.dueMs - b.dueMs)
      if (!next || next.dueMs > endMs) break
      nowMs = Math.max(nowMs, next.dueMs)
      timers.delete(next)
      next.run()
    }
    nowMs = endMs
  }
  /** The process stands still. */
  const stall = (ms: number) => {
    nowMs += ms
  }
  return { clock, advance, stall }
}

function paced(jitterMs = 0) {
  const hand = handClock()
  const atMs: number[] = []
  const tick = () => void atMs.push(hand.clock.nowMs())
  const stop = startPacer({ clock: hand.clock, random: makeRandom(1), jitterMs: () => jitterMs, tick })
  return { ...hand, atMs, stop }
}

describe('the pace of a line', () => {
  it('is 20 ms by an absolute clock, with jitter, without drift', () => {
    const { advance, atMs } = paced(8)
    advance(20 * 999 + 8)
    const lateMs = atMs.map((at, n) => at - 20 * n)
    expect(atMs).toHaveLength(1_000)
    expect(Math.min(...lateMs)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...lateMs)).toBeLessThanOrEqual(8)
    for (const half of [lateMs.slice(0, 500), lateMs.slice(500)])
      expect(Math.max(...half) - Math.min(...half)).toBeGreaterThan(7)
  })

  it('catches up with what is late', () => {
    const { advance, stall, atMs } = paced()
    advance(30)
    stall(290)
    advance(20)
    expect(atMs).toEqual([0, 20, ...Array(15).fill(320), 340])
  })

  it('leaves out what nobody carried while the process stood still for long', () => {
    const { advance, stall, atMs } = paced()
    stall(5_000)
    advance(40)
    expect(atMs).toEqual([5_000, 5_020, 5_040])
  })

  it('ends with its stop', () => {
    const { advance, atMs, stop, clock } = paced()
    advance(20)
    stop()
    advance(100)
    expect([atMs, clock.pending()]).toEqual([[0, 20], 0])
  })
})
