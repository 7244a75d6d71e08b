import { describe, expect, it, onTestFinished } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { until } from '../../test/harness/wait.ts'
import { systemClock } from '../kernel/clock.ts'
import { CoarseClock } from '../kernel/coarse-clock.ts'
import { tellStandstills, watchEventLoop } from './event-loop.ts'

function after(ms: number): Promise<boolean> {
  const endMs = performance.now() + ms
  return until(() => performance.now() > endMs, { what: 'time to pass' })
}

describe('watchEventLoop', () => {
  it('sees that the loop was blocked, and that it is free again', async () => {
    const watch = watchEventLoop(new CoarseClock(systemClock))
    onTestFinished(() => watch.stop())
    await after(50)
    const endMs = performance.now() + 300
    while (performance.now() < endMs) JSON.stringify(endMs)
    await after(30)
    const blocked = watch.sample()
    expect(blocked.delayP99Ms).toBeGreaterThan(150)
    // On a machine that does much else it may have to wait for its turn again.
    await until(
      async () => {
        await after(200)
        const { delayP99Ms, utilisation } = watch.sample()
        return delayP99Ms < 150 && utilisation < blocked.utilisation
      },
      { what: 'the loop to be free' },
    )
  })
})

it('says each time that nothing ran for two seconds and more, but for the start, for how long, and how many calls heard nothing', async () => {
  const base = new TestClock()
  const watch = watchEventLoop(new CoarseClock(base))
  const lines: unknown[] = []
  const log = { warn: (...told: unknown[]) => void lines.push(told) }
  let isStarting = true
  const stop = tellStandstills({ eventLoop: watch, log, liveCalls: () => 2, isStarting: () => isStarting })
  base.skip(20_000)
  await base.advance(60_000)
  isStarting = false
  base.skip(1_900)
  await base.advance(60)
  expect(lines).toEqual([])
  base.skip(20_000)
  await base.advance(60_000)
  expect(lines).toEqual([[{ for_ms: 19_980, live_calls: 2 }, 'this process stood still']])
  stop()
  watch.stop()
  expect(base.pendingTimers).toBe(0)
})
