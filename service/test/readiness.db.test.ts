import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { CALLER, NUMBER, useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { ACCOUNT } from './harness/served-app.ts'

const FALLBACK = '+12025550150'
const document = { telephony: { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token, fallback_number: FALLBACK } }
const form = { CallSid: 'CA7', AccountSid: ACCOUNT.sid, From: CALLER, To: NUMBER, CallStatus: 'ringing' }

describe('a service whose database answers who reads, and takes no writes', () => {
  const test = useDatabase()
  const app = useCallApp(test, { document })

  afterEach(async () => {
    await sql`drop event trigger if exists refusing`.execute(test.db)
    await sql`drop function if exists refuse_row, refuse_table cascade`.execute(test.db)
  })

  const statusOf = async (path: string) => (await fetch(app.served.address + path)).status
  const isReady = async (status: number) => (await statusOf('/readyz')) === status
  const failures = () => app.served.logLines().filter(({ msg }) => msg === 'check failed')

  async function refuse(table: string, state: string): Promise<void> {
    await sql`
      create function refuse_row() returns trigger language plpgsql as $$
      begin raise exception 'refused' using errcode = ${sql.lit(state)}; end $$`.execute(test.db)
    await sql`
      create trigger refusing before insert on ${sql.table(table)} for each row execute function refuse_row()`.execute(
      test.db,
    )
  }

  const databaseUp = async () =>
    /^database_up (\d)$/m.exec(await (await fetch(`${app.served.address}/metrics`)).text())?.[1]

  /** There is no room for a file of any table either. */
  async function refuseTables(): Promise<void> {
    await sql`
      create function refuse_table() returns event_trigger language plpgsql as $$
      begin raise exception 'refused' using errcode = '53100'; end $$`.execute(test.db)
    await sql`
      create event trigger refusing on ddl_command_start when tag in ('CREATE TABLE') execute function refuse_table()`.execute(
      test.db,
    )
  }

  it('F59: is not ready while the disk of its database is full, says so in the log, and is ready once there is room', async () => {
    await app.ring()
    await refuse('call_logs', '53100')
    await refuseTables()
    const { status, text } = await app.post('/api/v1/incoming-call', { form })
    expect([status, text]).toEqual([200, expect.stringContaining(`<Number>${FALLBACK}</Number>`)])
    expect((await app.served.call('acme', 'POST', '/browser-calls', { agent_key: 'desk' })).status).toBe(503)
    await app.pass(() => isReady(503), 'the probes to be told')
    expect(await statusOf('/health')).toBe(503)
    await app.pass(async () => (await databaseUp()) === '0', 'the metrics to say so')
    const err = { message: 'The disk of the database is full. Try again.' }
    expect(failures()).toEqual([expect.objectContaining({ check: 'database', err: expect.objectContaining(err) })])
    await app.clock.advance(5_000)
    expect(await isReady(503)).toBe(true)
    await sql`drop event trigger refusing`.execute(test.db)
    await sql`drop function refuse_row cascade`.execute(test.db)
    await app.pass(async () => (await databaseUp()) === '1', 'the metrics to be told that there is room')
    await app.pass(() => isReady(200), 'the probes to be told that there is room')
  })

  it('is not ready while its own heartbeat is not taken', async () => {
    await app.pass(() => isReady(200), 'the service to be ready')
    await refuse('nodes', '42501')
    await app.pass(() => isReady(503), 'the probes to be told')
    await sql`drop function refuse_row cascade`.execute(test.db)
    await app.pass(() => isReady(200), 'the heartbeat to be taken')
  })
})
