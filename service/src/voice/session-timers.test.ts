import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import type { Clock } from '../kernel/clock.ts'
import { SessionTimers } from './session-timers.ts'

/** A clock whose process sleeps until it is woken: everything that is due by then fires at once, and late. */
class HeldUpClock implements Clock {
  readonly #timers = new Set<{ dueMs: number; task: () => void }>()
  #nowMs = 0

  now(): number {
    return this.#nowMs
  }

  monotonicMs(): number {
    return this.#nowMs
  }

  after(delayMs: number, task: () => void): () => void {
    const timer = { dueMs: this.#nowMs + delayMs, task }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  every(): never {
    throw new Error('a session has no intervals')
  }

  wakeAt(nowMs: number): void {
    this.#nowMs = nowMs
    for (const timer of [...this.#timers]) {
      if (timer.dueMs > nowMs || !this.#timers.delete(timer)) continue
      timer.task()
    }
  }
}

function makeTimers() {
  const clock = new TestClock()
  const fired: string[] = []
  const timers = new SessionTimers(clock, {
    waking: () => {},
    fired: (timer) => fired.push(`${timer} ${clock.monotonicMs()}`),
  })
  return { clock, fired, timers }
}

describe('the timers of a session', () => {
  it('fire once, each at its time', async () => {
    const { clock, fired, timers } = makeTimers()
    timers.arm('stall', 300)
    timers.arm('idle', 200)
    await clock.advance(1_000)
    expect(fired).toEqual(['idle 200', 'stall 300'])
    expect(clock.pendingTimers).toBe(0)
  })

  it('can be put off as often as one likes, and are one timer of the clock', async () => {
    const { clock, fired, timers } = makeTimers()
    for (let atMs = 0; atMs < 1_000; atMs += 50) {
      timers.arm('stall', 300)
      expect(clock.pendingTimers).toBe(1)
      await clock.advance(50)
    }
    expect(fired).toEqual([])
    await clock.advance(1_000)
    expect(fired).toEqual(['stall 1250'])
    expect(clock.pendingTimers).toBe(0)
  })

  it('can be put forward', async () => {
    const { clock, fired, timers } = makeTimers()
    timers.arm('stall', 1_000)
    timers.arm('stall', 100)
    await clock.advance(2_000)
    expect(fired).toEqual(['stall 100'])
  })

  it('do not fire once they are disarmed, also when they were put off before', async () => {
    const { clock, fired, timers } = makeTimers()
    timers.arm('stall', 100)
    timers.arm('stall', 200)
    timers.arm('idle', 100)
    timers.disarm('stall')
    timers.disarmAll()
    expect(clock.pendingTimers).toBe(0)
    timers.arm('stall', 500)
    await clock.advance(2_000)
    expect(fired).toEqual(['stall 500'])
  })

  it('F74: wait until what came meanwhile was read when the process was held up', () => {
    const clock = new HeldUpClock()
    const fired: string[] = []
    const timers = new SessionTimers(clock, { waking: () => {}, fired: (timer) => fired.push(timer) })
    timers.arm('padding', 750)
    timers.arm('stall', 900)
    clock.wakeAt(1_000)
    expect(fired).toEqual(['stall'])
    timers.disarm('padding')
    clock.wakeAt(1_020)
    expect(fired).toEqual(['stall'])
    timers.arm('padding', 100)
    clock.wakeAt(2_000)
    // Held up again: it waits once.
    clock.wakeAt(3_000)
    expect(fired).toEqual(['stall', 'padding'])
  })

  it('are put off or disarmed by what is found out when they wake', async () => {
    const clock = new TestClock()
    const fired: string[] = []
    let found = () => {}
    const timers: SessionTimers = new SessionTimers(clock, {
      waking: () => found(),
      fired: (timer) => fired.push(`${timer} ${clock.monotonicMs()}`),
    })
    timers.arm('stall', 300)
    timers.arm('idle', 500)
    found = () => timers.arm('stall', 250)
    await clock.advance(310)
    found = () => timers.arm('stall', 10)
    await clock.advance(195)
    found = () => timers.disarm('idle')
    await clock.advance(1_000)
    expect(fired).toEqual(['idle 500', 'stall 510'])
    timers.arm('idle', 100)
    await clock.advance(1_000)
    expect([fired.length, clock.pendingTimers]).toEqual([2, 0])
    let isNew = false
    found = () => {
      if (isNew) return
      isNew = true
      timers.disarm('stall')
      timers.arm('stall', 250)
    }
    timers.arm('stall', 100)
    await clock.advance(1_000)
    expect(fired.slice(2)).toEqual([`stall ${clock.monotonicMs() - 650}`])
  })

  it('fire at once when they are to have fired already', async () => {
    const { clock, fired, timers } = makeTimers()
    timers.arm('stall', -40)
    await clock.advance(1)
    expect(fired).toHaveLength(1)
  })

  it('may be armed again by what they fire', async () => {
    const clock = new TestClock()
    let count = 0
    const timers: SessionTimers = new SessionTimers(clock, {
      waking: () => {},
      fired(timer) {
        count += 1
        if (count < 3) timers.arm(timer, 100)
      },
    })
    timers.arm('stall', 100)
    await clock.advance(1_000)
    expect([count, clock.pendingTimers]).toEqual([3, 0])
  })
})

describe('Timers that are set again and again', () => {
  it('are gone with the quick collector', () => {
    setFlagsFromString('--expose-gc')
    const collect: (how: { type: 'minor' }) => void = runInNewContext('gc')
    const old = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space')?.space_used_size ?? 0
    const clock = { now: () => 0, monotonicMs: () => 0, after: () => () => {}, every: () => () => {} }
    const timers = new SessionTimers(clock, { waking: () => {}, fired: () => {} })
    const turns = (count: number) => {
      for (let turn = 0; turn < count; turn += 1) {
        for (const timer of ['idle', 'stall', 'retry', 'padding', 'renewal'] as const) timers.arm(timer, 1_000)
        for (const timer of ['idle', 'stall', 'retry', 'padding', 'renewal'] as const) timers.disarm(timer)
      }
      for (let times = 0; times < 3; times += 1) collect({ type: 'minor' })
    }
    turns(10)
    const before = old()
    turns(5_000)
    expect(old() - before).toBeLessThan(512 * 1024)
  })
})
