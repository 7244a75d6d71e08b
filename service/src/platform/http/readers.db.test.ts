import { sql } from 'kysely'
import { expect, inject, it } from 'vitest'
import { useDatabase } from '../../../test/harness/database.ts'
import { until } from '../../../test/harness/wait.ts'
import { testServer } from './http.fixture.ts'

const test = useDatabase()

// The embedded database has one connection, for all.
it.runIf(inject('databaseTemplate').kind === 'server')(
  'Who looks at something leaves three of ten connections to all else, and has the next one in turn',
  async () => {
    const { db } = await test.anotherNode()
    const { server } = testServer()
    const held = Promise.withResolvers<void>()
    let holders = 0
    server.get('/api/long', async () => {
      const { rows } = await db.transaction().execute(async (tx) => {
        holders += 1
        await held.promise
        return sql`select 1 as one`.execute(tx)
      })
      return rows[0]
    })
    server.post('/api/calls', async () => (await sql`select 2 as two`.execute(db)).rows[0])
    const asked = Array.from({ length: 12 }, () => server.inject('/api/long'))
    await until(() => holders === 7, { what: 'as many readers as may be' })
    const calls = Array.from({ length: 9 }, () => server.inject({ method: 'POST', url: '/api/calls' }))
    for (const call of await Promise.all(calls)) expect(call.json()).toEqual({ two: 2 })
    expect(holders).toBe(7)
    held.resolve()
    for (const answer of await Promise.all(asked)) expect(answer.json()).toEqual({ one: 1 })
  },
)
