import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { TestClock } from './clock.ts'
import { useDatabase } from './database.ts'
import { isDatabaseAtWork } from './database-work.ts'
import { passing } from './passing.ts'

const test = useDatabase()

describe('the database', () => {
  it('is at work from when it is asked until it has answered', async () => {
    expect(isDatabaseAtWork()).toBe(false)
    const answer = sql`select 1`.execute(test.db)
    expect(isDatabaseAtWork()).toBe(true)
    await answer
    expect(isDatabaseAtWork()).toBe(false)
  })

  it('is at work between the statements of a transaction too, and after one that failed no more', async () => {
    await test.db.transaction().execute(async (tx) => {
      await sql`select 1`.execute(tx)
      expect(isDatabaseAtWork()).toBe(true)
    })
    await expect(sql`select no_such_column`.execute(test.db)).rejects.toThrow(/no_such_column/)
    expect(isDatabaseAtWork()).toBe(false)
  })

  it('does not keep time from passing when it does not answer', async () => {
    const clock = new TestClock()
    await test.db.transaction().execute(async () => {
      await passing(clock, () => clock.monotonicMs() >= 500, { what: 'half a second' })
    })
    expect(clock.monotonicMs()).toBe(500)
  })
})
