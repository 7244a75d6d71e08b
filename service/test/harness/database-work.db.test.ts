import { DefaultConnectionProvider, DummyDriver, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { TestClock } from './clock.ts'
import { useDatabase } from './database.ts'
import { isDatabaseAtWork, watchWork } from './database-work.ts'
import { passing } from './passing.ts'

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
