import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { until } from '../../test/harness/wait.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { insertCall, type LockedCall, lockRecord, updateRecord } from './call-store.ts'
import { NODE, someCall, tenantTold } from './calls.fixture.ts'
import { makeSessions, newRecord } from './sessions.ts'

const ACME = 'acme' as TenantId
const NO_CHANGES = { log: null, session: null, look: null }

const test = useDatabase()

beforeEach(async () => {
  await makeTenant(test.db, 'acme')
  await makeSessions({ db: test.db, clock: new TestClock(), nodeId: NODE }).open(tenantTold('acme'), someCall('CA1'))
})

const locked = (db: Db = test.db) => db.transaction().execute((tx) => lockRecord(tx, ACME, 'CA1'))

async function stored() {
  const log = await test.db.selectFrom('call_logs').selectAll().executeTakeFirstOrThrow()
  const session = await test.db.selectFrom('voice_sessions').selectAll().executeTakeFirstOrThrow()
  return { log, session }
}

/** Whether somebody waits for a lock; on the embedded database, which has one connection, whoever waits has asked nothing yet. */
async function somebodyWaits(): Promise<boolean> {
  if (test.kind !== 'server') return true
  const { rows } = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(test.db)
  return rows.length > 0
}

/** Locks the call on another node while a transaction of this one, which has it, is still at `work`. */
async function lockedBehind(work: (tx: Tx) => Promise<void>): Promise<LockedCall | null> {
  const [isDone, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const first = test.db.transaction().execute(async (tx) => {
    await work(tx)
    isDone.resolve()
    await mayEnd.promise
  })
  await Promise.race([isDone.promise, first])
  const second = locked((await test.anotherNode()).db)
  await until(somebodyWaits, { what: 'the second to wait' })
  mayEnd.resolve()
  await first
  return second
}

describe('a call that is locked', () => {
  it('is read as its tables have it, whatever types their columns are of', async () => {
    const values = {
      tags: ['a "b"', '{c}'],
      cost_usd: 0.1,
      qa: { score: 1, high_quality: true, summary: 'é', criteria: [] },
    }
    await test.db.updateTable('voice_sessions').set(values).execute()
    await test.db
      .updateTable('call_logs')
      .set({
        answered_at: new Date('2030-01-15T12:00:00.007Z'),
        escalated: true,
        metadata: { at: '2030-01-15', n: [1.5] },
      })
      .execute()
    expect((await locked())?.before).toEqual(await stored())
  })

  it('is read as whoever had it before has left it, all of it', async () => {
    const found = await lockedBehind(async (tx) => {
      const before = (await lockRecord(tx, ACME, 'CA1'))?.before
      if (!before) throw new Error('there is no call')
      await updateRecord(tx, before, { ...NO_CHANGES, log: { summary: 'Sold.' }, session: { outcome: 'sold' } })
    })
    expect(found?.before).toMatchObject({ log: { summary: 'Sold.' }, session: { outcome: 'sold' } })
  })

  it('is the one that took its place, where whoever had it entered it anew', async () => {
    const record = newRecord(tenantTold('acme'), someCall('CA1'), new Date('2030-01-15T12:00:00Z'))
    const found = await lockedBehind(async (tx) => {
      await lockRecord(tx, ACME, 'CA1')
      await tx.deleteFrom('call_directory').execute()
      await tx.deleteFrom('voice_sessions').execute()
      await tx.updateTable('call_logs').set({ call_sid: null, voice_session_id: null }).execute()
      await insertCall(tx, { record, lookAt: new Date('2030-01-15T12:05:00Z') })
    })
    expect(found?.before).toEqual(record)
  })

  it('is none of another tenant', async () => {
    const found = test.db.transaction().execute((tx) => lockRecord(tx, 'globex' as TenantId, 'CA1'))
    expect(await found).toBeNull()
  })

  it('of which half is missing is a fault, and not a call that is not known', async () => {
    await test.db.deleteFrom('call_logs').execute()
    await expect(locked()).rejects.toThrow('has no log or no session')
  })
})

describe('a change of a call', () => {
  it.each([
    ['its log', { log: { summary: 'Sold.', ended_at: new Date('2030-01-15T12:00:00.007Z') } }],
    [
      'its session',
      {
        session: {
          tags: ['a "b"', '{c}'],
          usage: { input_tokens: 1, output_tokens: 2, cached_tokens: 3, audio_seconds: 4.5 },
        },
      },
    ],
    ['both', { log: { cost_usd: 0.25 }, session: { cost_usd: 0.25, end_reason: 'supervisor' as const, model: null } }],
  ])('is that of %s, and of nothing else', async (_what, changes) => {
    const before = await stored()
    await test.db.transaction().execute((tx) => updateRecord(tx, before, { ...NO_CHANGES, ...changes }))
    const { log, session } = { ...NO_CHANGES, ...changes }
    expect(await stored()).toEqual({ log: { ...before.log, ...log }, session: { ...before.session, ...session } })
  })

  it('says when the call is looked after next, or never again', async () => {
    const before = await stored()
    const entry = () => test.db.selectFrom('call_directory').select(['look_at', 'look_tries']).executeTakeFirst()
    await test.db.updateTable('call_directory').set({ look_tries: 3 }).execute()
    const at = new Date('2030-01-15T12:00:00Z')
    for (const look of [at, null]) {
      await test.db.transaction().execute((tx) => updateRecord(tx, before, { ...NO_CHANGES, look: { at: look } }))
      expect(await entry()).toEqual({ look_at: look, look_tries: 0 })
    }
  })

  it('holds what a model wrote that no text of the database can: half a character, and NUL', async () => {
    const before = await stored()
    const log = { summary: 'a\ud800b\0c' }
    await test.db.transaction().execute((tx) => updateRecord(tx, before, { ...NO_CHANGES, log }))
    expect((await stored()).log.summary).toBe('a\ufffdbc')
  })

  it.each([
    ['a number', { cost_usd: Number.NaN }],
    ['an instant', { ended_at: new Date(Number.NaN) }],
  ])('is refused where %s is none, which would be stored as nothing', async (_what, log) => {
    const before = await stored()
    const change = test.db.transaction().execute((tx) => updateRecord(tx, before, { ...NO_CHANGES, log }))
    await expect(change).rejects.toThrow(RangeError)
  })

  it('leaves the same call of another tenant alone', async () => {
    const before = await stored()
    const other = { ...before, session: { ...before.session, tenant_id: 'globex' as TenantId } }
    await test.db.transaction().execute((tx) => updateRecord(tx, other, { ...NO_CHANGES, log: { summary: 'Sold.' } }))
    expect(await stored()).toEqual(before)
  })
})
