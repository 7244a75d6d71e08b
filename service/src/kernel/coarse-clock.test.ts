import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { CoarseClock } from './coarse-clock.ts'

function makeClock() {
  const base = new TestClock()
  const clock = new CoarseClock(base)
  const fired: string[] = []
  const note = (what: string) => () => void fired.push(`${what} ${base.monotonicMs()}`)
  return { base, clock, fired, note }
}

describe('a coarse clock', () => {
  it('fires its timers with the first beat at which they are due, in their order', async () => {
    const { base, clock, fired, note } = makeClock()
    clock.after(110, note('second'))
    clock.after(105, note('first'))
    clock.after(120, note('third'))
    await base.advance(1_000)
    expect(fired).toEqual(['first 120', 'second 120', 'third 120'])
  })

  it('leaves what is shorter than two beats to the other clock', async () => {
    const { base, clock, fired, note } = makeClock()
    clock.after(5, note('once'))
    const stop = clock.every(15, note('again'))
    await base.advance(31)
    stop()
    expect(fired).toEqual(['once 5', 'again 15', 'again 30'])
  })

  it('repeats without drifting, and does not make up for what it missed', async () => {
    const { base, clock, fired, note } = makeClock()
    const stop = clock.every(50, note('tick'))
    await base.advance(210)
    expect(fired).toEqual(['tick 60', 'tick 100', 'tick 160', 'tick 200'])
    stop()
    await base.advance(1_000)
    expect(fired.length).toBe(4)
  })

  it('fires nothing that was cancelled, by whatever fired before it', async () => {
    const { base, clock, fired, note } = makeClock()
    clock.after(100, () => cancel())
    const cancel = clock.after(100, note('never'))
    await base.advance(1_000)
    cancel()
    expect(fired).toEqual([])
  })

  it('fires what a timer sets later, never at once', async () => {
    const { base, clock, fired, note } = makeClock()
    clock.after(100, () => void clock.after(50, note('then')))
    await base.advance(1_000)
    expect(fired).toEqual(['then 160'])
  })

  it('beats only while there is something to wait for', async () => {
    const { base, clock } = makeClock()
    const cancels = [clock.after(100, () => {}), clock.every(100, () => {}), clock.onBeat(() => {})]
    expect(base.pendingTimers).toBe(1)
    for (const cancel of cancels) cancel()
    expect(base.pendingTimers).toBe(0)
    clock.after(100, () => {})
    await base.advance(200)
    expect(base.pendingTimers).toBe(0)
  })

  it('tells with each beat how late it was', async () => {
    const base = new TestClock()
    const late: number[] = []
    const stop = new CoarseClock(base).onBeat((lateMs) => late.push(lateMs))
    await base.advance(60)
    stop()
    await base.advance(60)
    expect(late).toEqual([0, 0, 0])
  })
})
