import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { openServer } from '../src/platform/db/server.ts'
import { CALLER, NUMBER, useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { ACCOUNT } from './harness/served-app.ts'
import { PLAYED_MS, startTalking } from './harness/talking-calls.ts'
import { until } from './harness/wait.ts'

const FALLBACK = '+12025550150'
const ROLE = `parley_login_${randomBytes(6).toString('hex')}`
const PASSWORD = 'the-password'
const APPLICATION = `parley of ${ROLE}`

const document = { telephony: { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token, fallback_number: FALLBACK } }
const form = { CallSid: 'CA7', AccountSid: ACCOUNT.sid, From: CALLER, To: NUMBER, CallStatus: 'ringing' }

/** On a server, where the service has a role of its own whose login can be refused. */
describe.runIf(inject('databaseTemplate').kind === 'server')('while the database lets the service not in', () => {
  const test = useDatabase()
  const app = useCallApp(test, {
    document,
    async database() {
      const url = new URL(test.settings['DATABASE_URL'] ?? '')
      Object.assign(url, { username: ROLE, password: PASSWORD })
      return openServer({ url: url.href, applicationName: APPLICATION })
    },
  })
  const alter = (how: string) => sql.raw(`alter role ${ROLE} ${how}`).execute(test.db)

  beforeAll(async () => {
    await sql.raw(`create role ${ROLE} superuser login password '${PASSWORD}'`).execute(test.db)
  })
  afterAll(async () => {
    await sql.raw(`drop role ${ROLE}`).execute(test.db)
  })

  it.each([
    ['28P01, another password', `password 'another one'`, `password '${PASSWORD}'`],
    ['28000, no right to log in', 'nologin', 'login'],
  ])('calls go to the fallback number, tenants are told, and all is stored afterwards (%s)', async (_is, bar, mend) => {
    const [call] = await startTalking(app, ['CT1'])
    await alter(bar)
    try {
      await cut()
      call?.talk()
      await app.clock.advance(PLAYED_MS)
      await call?.played()
      const ring = await app.post('/api/v1/incoming-call', { form })
      expect([ring.status, ring.text]).toEqual([200, expect.stringContaining(`<Number>${FALLBACK}</Number>`)])
      expect((await app.served.call('acme', 'GET', '/call-logs')).status).toBe(503)
      expect((await fetch(`${app.served.address}/readyz`)).status).toBe(503)
      await app.clock.advance(10_000)
    } finally {
      await alter(mend)
    }
    const turns = async () => (await test.db.selectFrom('transcript_turns').select('text').execute()).length
    await app.pass(async () => (await turns()) === call?.said.length, 'the turns to be stored')
    const refused = () => test.db.selectFrom('call_logs').select('status').where('call_sid', '=', 'CA7').execute()
    await app.pass(async () => (await refused()).length === 1, 'the refused call to be written down')
    expect(call?.client.closeCode).toBeNull()
  })

  /** Who is in stays in: all connections are ended, as by a server that takes the place of another. */
  async function cut(): Promise<void> {
    const left = async () => {
      const { rows } = await sql`
        select pg_terminate_backend(pid) from pg_stat_activity where application_name = ${APPLICATION}`.execute(test.db)
      return rows.length
    }
    await until(async () => (await left()) === 0, { what: 'the connections of the service to be cut' })
  }
})
