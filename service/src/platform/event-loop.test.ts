import { describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../../test/harness/wait.ts'
import { systemClock } from '../kernel/clock.ts'
import { CoarseClock } from '../kernel/coarse-clock.ts'
import { watchEventLoop } from './event-loop.ts'

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
