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

  it('fires whatever waits for long with the beat at which it is due, and again', async () => {
    const { base, clock, fired, note } = makeClock()
    const cancels = [980, 1_000, 1_001, 1_020, 1_999, 2_000, 2_001, 65_010].map((ms) => clock.after(ms, note(`${ms}:`)))
    cancels.push(clock.every(1_510, note('again')))
    cancels[4]?.()
    await base.advance(1_500)
    clock.after(400, note('later'))
    clock.after(600, note('later'))
    await base.advance(64_000)
    for (const cancel of cancels) cancel()
    expect(fired.filter((what) => !what.startsWith('again'))).toEqual([
      ...['980: 980', '1000: 1000', '1001: 1020', '1020: 1020', 'later 1900', '2000: 2000', '2001: 2020', 'later 2100'],
      '65010: 65020',
    ])
    const again = fired.filter((what) => what.startsWith('again'))
    expect(again).toEqual(
      Array.from({ length: 43 }, (_, count) => `again ${Math.ceil((1_510 * (count + 1)) / 20) * 20}`),
    )
    expect(base.pendingTimers).toBe(0)
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

  it('fires all that are due with one that throws, and throws then', async () => {
    const { base, clock, fired, note } = makeClock()
    const fault = new Error('it does not work')
    const fail = () => {
      throw fault
    }
    const cancels = [clock.after(100, fail), clock.after(100, note('once')), clock.every(100, note('again'))]
    await expect(base.advance(100)).rejects.toBe(fault)
    expect(fired).toEqual(['once 100', 'again 100'])
    await base.advance(100)
    expect(fired.at(-1)).toBe('again 200')
    const others = [clock.after(100, fail), clock.after(100, fail), clock.after(100, note('third'))]
    await expect(base.advance(100)).rejects.toMatchObject({ errors: [fault, fault] })
    expect(fired.at(-1)).toBe('third 300')
    for (const cancel of [...cancels, ...others]) cancel()
    expect(base.pendingTimers).toBe(0)
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
