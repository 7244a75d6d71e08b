import { DefaultConnectionProvider, DummyDriver, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { TestClock } from './clock.ts'
import { useDatabase } from './database.ts'
import { isDatabaseAtWork, watchWork } from './database-work.ts'
import { passing, passingWork } from './passing.ts'

const test = useDatabase()

describe('the database', () => {
  it('is at work from when it is asked, and between the statements of a transaction', async () => {
    const answer = sql`select 1`.execute(test.db)
    expect(isDatabaseAtWork()).toBe(true)
    await answer
    await test.db.transaction().execute(async (tx) => {
      await sql`select 1`.execute(tx)
      expect(isDatabaseAtWork()).toBe(true)
    })
  })

  it('does not keep time from passing when it does not answer', async () => {
    const clock = new TestClock()
    await test.db.transaction().execute(async () => {
      await passing(clock, () => clock.monotonicMs() >= 500, { what: 'half a second' })
    })
    expect(clock.monotonicMs()).toBe(500)
  })
})

describe('a clock that is moved on', () => {
  const asked = (seconds: number) => sql`select pg_sleep(${seconds})`.execute(test.db)

  it.each([
    { stepMs: 250, seconds: 0.05, answerMs: 150 },
    { stepMs: 5_000, seconds: 0.4, answerMs: 1_000 },
  ])('stands still before steps of $stepMs ms while a database is about to answer', async (of) => {
    const { stepMs, seconds, answerMs } = of
    const clock = new TestClock()
    const begunMs = performance.now()
    let passedMs = -1
    const answer = asked(seconds).then(() => {
      passedMs = clock.monotonicMs()
    })
    await passing(clock, () => passedMs >= 0, { what: 'the answer', stepMs })
    await answer
    // It stands still for so long before each of them, which a machine that is held up may be too late for.
    const stepsAtMost = Math.ceil((performance.now() - begunMs) / answerMs)
    expect(passedMs).toBeLessThanOrEqual(stepsAtMost * stepMs)
  })

  it('brings what its work throws to whoever waits for it, and to nobody else', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', note)
    try {
      const work = sql`select 1 / 0`.execute(test.db)
      await expect(passingWork(new TestClock(), work)).rejects.toThrow('division by zero')
      await new Promise((resolve) => setImmediate(resolve))
    } finally {
      process.off('unhandledRejection', note)
    }
    expect(unhandled).toEqual([])
  })
})

describe('work that is watched', () => {
  it('is over with its answer, and with its fault', async () => {
    const provider = new DefaultConnectionProvider(new DummyDriver())
    const isAtWork = watchWork(provider)
    expect(isAtWork()).toBe(false)
    expect(await provider.provideConnection(async () => isAtWork())).toBe(true)
    expect(isAtWork()).toBe(false)
    const failing = provider.provideConnection(() => Promise.reject(new Error('it failed')))
    expect(isAtWork()).toBe(true)
    await expect(failing).rejects.toThrow('it failed')
    expect(isAtWork()).toBe(false)
  })
})
