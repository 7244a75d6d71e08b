import { describe, expect, it } from 'vitest'
import { TestClock } from '../test/harness/clock.ts'
import { AppError } from './kernel/errors.ts'
import { makeSchedule } from './schedule.ts'

const INTERVAL_MS = 30_000
const FIVE_MINUTES_MS = 300_000

/** A schedule of one piece of work that ends when the test says so. */
function scheduled({ intervalMs = INTERVAL_MS, chance = 0.5, hasEndpoint = true } = {}) {
  const clock = new TestClock()
  const warned: unknown[] = []
  const ends: PromiseWithResolvers<void>[] = []
  const run = () => {
    const end = Promise.withResolvers<void>()
    ends.push(end)
    return end.promise
  }
  const log = { warn: (fields: unknown) => void warned.push(fields) }
  const work = [{ name: 'sla', hasEndpoint, run }]
  const schedule = makeSchedule({ clock, log, intervalMs, chance: () => chance, work })
  return {
    ...{ clock, schedule, warned },
    get runs() {
      return ends.length
    },
    async end(how: 'resolve' | 'reject' = 'resolve', why: Error = new Error('no')) {
      ends.at(-1)?.[how](...((how === 'reject' ? [why] : []) as [never]))
      await clock.advance(0)
    },
  }
}

describe('the schedule', () => {
  it('does its work again and again, the interval after its end, and never twice at once', async () => {
    const world = scheduled()
    world.schedule.start()
    await world.clock.advance(INTERVAL_MS / 2)
    expect(world.runs).toBe(1)
    await world.clock.advance(10 * INTERVAL_MS)
    expect(world.runs).toBe(1)
    await world.end()
    await world.clock.advance(INTERVAL_MS - 1)
    expect(world.runs).toBe(1)
    await world.clock.advance(1)
    expect(world.runs).toBe(2)
    await world.end()
    await world.schedule.close()
  })

  it.each([
    [0, 27_000],
    [1, 33_000],
  ])('waits by chance %s for %s ms', async (chance, waitMs) => {
    const world = scheduled({ chance })
    world.schedule.start()
    await world.clock.advance(INTERVAL_MS * chance)
    await world.end()
    await world.clock.advance(waitMs - 1)
    expect(world.runs).toBe(1)
    await world.clock.advance(1)
    expect(world.runs).toBe(2)
    await world.end()
    await world.schedule.close()
  })

  it('goes on after a failure, and says so', async () => {
    const world = scheduled()
    world.schedule.start()
    await world.clock.advance(INTERVAL_MS / 2)
    await world.end('reject')
    expect(world.warned).toMatchObject([{ sweep: 'sla' }])
    await world.clock.advance(INTERVAL_MS)
    expect(world.runs).toBe(2)
    await world.end()
    await world.schedule.close()
  })

  it('says once that the database is away, and again when it was back in between', async () => {
    const world = scheduled()
    const away = new AppError('unavailable', 'The database is not reachable. Try again.')
    world.schedule.start()
    await world.clock.advance(INTERVAL_MS / 2)
    const warned: number[] = []
    for (const how of ['reject', 'reject', 'resolve', 'reject'] as const) {
      await world.end(how, away)
      warned.push(world.warned.length)
      await world.clock.advance(INTERVAL_MS)
    }
    expect(warned).toEqual([1, 1, 1, 2])
    await world.end()
    await world.schedule.close()
  })

  it('begins nothing once it is closed, and leaves no timer', async () => {
    const world = scheduled()
    world.schedule.start()
    await world.clock.advance(INTERVAL_MS / 2)
    let isClosed = false
    void world.schedule.close().then(() => {
      isClosed = true
    })
    await world.clock.advance(100)
    expect(isClosed).toBe(false)
    await world.end()
    expect(isClosed).toBe(true)
    await world.clock.advance(10 * INTERVAL_MS)
    expect([world.runs, world.clock.pendingTimers]).toEqual([1, 0])
  })

  it('waits no longer than two seconds for what takes its time', async () => {
    const world = scheduled()
    world.schedule.start()
    await world.clock.advance(INTERVAL_MS / 2)
    const closed = world.schedule.close()
    await world.clock.advance(2_000)
    await closed
    await world.end()
    expect(world.clock.pendingTimers).toBe(0)
  })

  it.each([0, 7_200_000])(
    'does every five minutes, with an interval of %s ms, what has no endpoint',
    async (intervalMs) => {
      const world = scheduled({ intervalMs, hasEndpoint: false })
      world.schedule.start()
      await world.clock.advance(FIVE_MINUTES_MS / 2)
      await world.end()
      await world.clock.advance(FIVE_MINUTES_MS)
      expect(world.runs).toBe(2)
      await world.end()
      await world.schedule.close()
    },
  )

  it('leaves what has an endpoint to that where it is turned off', async () => {
    const world = scheduled({ intervalMs: 0 })
    world.schedule.start()
    await world.clock.advance(FIVE_MINUTES_MS)
    expect([world.runs, world.clock.pendingTimers]).toEqual([0, 0])
    await world.schedule.close()
  })
})
