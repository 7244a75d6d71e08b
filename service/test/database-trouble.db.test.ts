import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { CALLER, NUMBER, useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { useProxiedDatabase } from './harness/proxied-database.ts'
import { ACCOUNT } from './harness/served-app.ts'
import { PLAYED_MS, startTalking } from './harness/talking-calls.ts'
import { until } from './harness/wait.ts'

const FALLBACK = '+12025550150'
const ANSWER_WITHIN_MS = 8_000
/** A wait for one of ten connections takes five seconds of real time. */
const POOL_TIMEOUT_MS = 30_000

const document = { telephony: { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token, fallback_number: FALLBACK } }
const form = (callSid: string, facts: Record<string, string> = {}) => ({
  form: { CallSid: callSid, AccountSid: ACCOUNT.sid, From: CALLER, To: NUMBER, CallStatus: 'ringing', ...facts },
})
const toFallback = [200, expect.stringContaining(`<Number>${FALLBACK}</Number>`)]

describe('when two transactions of the database get into each other', () => {
  const test = useDatabase()
  const app = useCallApp(test, { document })

  /** Refuses entries of a table, the first so many times, as it would whoever loses against another. */
  async function refusing(state: string, { of, times }: { of: string; times: number }, work: () => Promise<void>) {
    await sql`create sequence refusals`.execute(test.db)
    await sql`
      create function refuse() returns trigger language plpgsql as $$
      begin
        if nextval('refusals') <= ${sql.lit(times)} then
          raise exception 'refused' using errcode = ${sql.lit(state)};
        end if;
        return new;
      end $$`.execute(test.db)
    await sql`create trigger refuse before insert on ${sql.id(of)} for each row execute function refuse()`.execute(
      test.db,
    )
    try {
      await work()
    } finally {
      await sql`drop function refuse cascade`.execute(test.db)
      await sql`drop sequence refusals`.execute(test.db)
    }
  }

  it.each(['40001', '40P01'])('F56: a call is taken all the same (%s)', async (state) => {
    await refusing(state, { of: 'call_logs', times: 2 }, async () => {
      expect(await app.ring()).toContain('<Stream ')
    })
  })

  it.each(['40001', '40P01'])('a tenant is told so, and when to ask again (%s)', async (state) => {
    const ask = () =>
      fetch(`${app.served.address}/api/v1/callback-tasks`, {
        method: 'POST',
        headers: { authorization: `Bearer ${app.served.tokenOf('acme')}`, 'content-type': 'application/json' },
        body: JSON.stringify({ customer_phone: CALLER }),
      })
    await refusing(state, { of: 'callback_tasks', times: 1 }, async () => {
      const refused = await ask()
      expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
        503,
        '5',
        expect.objectContaining({
          code: 'unavailable',
          error: expect.stringMatching(/at the same time\. Try again\.$/),
        }),
      ])
      expect((await ask()).status).toBe(200)
    })
  })
})

/** On a server: behind a wire of the test, with connections that can be taken. */
describe.runIf(inject('databaseTemplate').kind === 'server')('while the database', () => {
  const test = useDatabase()
  const wire = useProxiedDatabase(test)
  let db: Awaited<ReturnType<typeof wire.open>>['db']
  const app = useCallApp(test, {
    document,
    async database() {
      const database = await wire.open()
      db = database.db
      return database
    },
  })

  /** What a carrier is told, and how much of its time that took. */
  async function answered(path: string, callSid: string): Promise<{ answer: unknown[]; afterMs: number }> {
    const startMs = app.clock.monotonicMs()
    let answer: unknown[] | null = null
    void app.post(path, form(callSid)).then(({ status, text }) => {
      answer = [status, text]
    })
    await app.pass(() => answer, 'the answer')
    return { answer: answer ?? [], afterMs: app.clock.monotonicMs() - startMs }
  }

  it('F55: answers too late, a call goes to the fallback number within 8 s, and one that asks what comes next', async () => {
    await app.ring()
    await app.clock.advance(5_000)
    wire.proxy.freezeAll()
    const taken = await answered('/api/v1/incoming-call', 'CA7')
    expect(taken.answer).toEqual(toFallback)
    expect(taken.afterMs).toBeLessThanOrEqual(ANSWER_WITHIN_MS + 500)
    const next = await answered('/api/v1/call-resume', 'CA1')
    expect(next.answer).toEqual([200, expect.stringContaining('<Say>')])
    expect(next.afterMs).toBeLessThanOrEqual(ANSWER_WITHIN_MS + 500)
    await wire.proxy.cut()
  })

  it('F57: has no connection left, a call goes to the fallback number and is told so', {
    timeout: POOL_TIMEOUT_MS,
  }, async () => {
    await app.ring()
    const held = await Promise.all(Array.from({ length: 10 }, () => db.startTransaction().execute()))
    const { answer } = await answered('/api/v1/incoming-call', 'CA7')
    expect(answer).toEqual(toFallback)
    const before = await lastBeat()
    await app.pass(async () => (await lastBeat()) > before, 'a heartbeat')
    for (const transaction of held) await transaction.rollback().execute()
    expect(await app.ring()).toContain('<Stream ')
  })

  it('F58: can only be read, calls go to the fallback number, tenants are told, and what calls say is stored afterwards', async () => {
    const [call] = await startTalking(app, ['CT1'])
    await readOnly(true)
    try {
      call?.talk()
      await app.clock.advance(PLAYED_MS)
      await call?.played()
      const ring = await app.post('/api/v1/incoming-call', form('CA7'))
      expect([ring.status, ring.text]).toEqual(toFallback)
      expect((await app.served.call('acme', 'POST', '/browser-calls', { agent_key: 'desk' })).status).toBe(503)
      for (const path of ['/readyz', '/health']) {
        expect([path, (await fetch(app.served.address + path)).status]).toEqual([path, 503])
      }
      const err = expect.objectContaining({ message: 'The database can only be read. Try again.' })
      expect(app.served.logLines()).toContainEqual(expect.objectContaining({ msg: 'check failed', err }))
      await app.clock.advance(10_000)
    } finally {
      await readOnly(false)
    }
    const turns = async () => (await test.db.selectFrom('transcript_turns').select('text').execute()).length
    await app.pass(async () => (await turns()) === call?.said.length, 'the turns to be stored')
    expect(call?.client.closeCode).toBeNull()
  })

  async function lastBeat(): Promise<number> {
    const { heartbeat_at: at } = await test.db.selectFrom('nodes').select('heartbeat_at').executeTakeFirstOrThrow()
    return at.getTime()
  }

  /** As a server is that is not the primary any more: the connections are cut, and new ones may not write. */
  async function readOnly(isReadOnly: boolean): Promise<void> {
    const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(test.db)
    const name = sql.id(rows[0]?.name ?? '')
    await sql`begin read write; alter database ${name} set default_transaction_read_only = ${sql.lit(isReadOnly ? 'on' : 'off')}; commit`.execute(
      test.db,
    )
    const cut = async () => {
      const { rows: left } = await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'parley behind a proxy'`.execute(test.db)
      return left.length > 0
    }
    await until(cut, { what: 'the connections of the service to be cut' })
  }
})
