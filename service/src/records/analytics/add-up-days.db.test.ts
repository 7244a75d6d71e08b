import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { plansOf } from '../../../test/harness/plans.ts'
import { makeTenant } from '../../../test/harness/tenants.ts'
import { until } from '../../../test/harness/wait.ts'
import type { AgentVersionId, TenantId } from '../../kernel/ids.ts'
import type { Tx } from '../../platform/db/schema.ts'
import { tenantTold } from '../calls.fixture.ts'
import { addCall, type CallFacts, countAll, countedRows } from './analytics.fixture.ts'
import { type AnalyticsAsk, makeCallAnalytics } from './call-analytics.ts'
import { countCalls } from './count-calls.ts'
import { addUpDay, type ChangedDay, listChangedDaysAcrossTenants } from './day-rollup-store.ts'
import { countHour, forgetOutcomes } from './rollup-store.ts'

const ACME = 'acme' as TenantId
const GLOBEX = 'globex' as TenantId
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Three days, in the middle of which the clocks change in Berlin, and a week later, by half an hour, on Lord Howe Island. */
const SPRING = new Date('2030-03-30T00:00:00.000Z')
const AUTUMN = new Date('2030-04-06T00:00:00.000Z')
const DAYS = 3
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Auckland',
]
const VERSIONS = [1, 2].map((n) => `0190c000-0000-7000-8000-00000000000${n}` as AgentVersionId)

const test = useDatabase()
const clock = new TestClock(AUTUMN.getTime() + 30 * DAY_MS)
const tenants = { get: async (id: TenantId) => tenantTold(id) }
const analytics = (db = test.db) => makeCallAnalytics({ db, clock, tenants })
const deps = () => ({ db: test.db, clock, log: { error: () => {} }, isStopping: () => false })
const sweep = () => countCalls(deps(), { tenantId: null, limitHours: 1_000 })
const after = (hours: number, from = SPRING) => new Date(from.getTime() + hours * HOUR_MS)
const day = (tenant_id = ACME): ChangedDay => ({ tenant_id, starts_at: SPRING })

beforeEach(async () => {
  await makeTenant(test.db, ACME)
  await makeTenant(test.db, GLOBEX)
})

const someCall: fc.Arbitrary<Partial<CallFacts> & Pick<CallFacts, 'at'>> = fc.record({
  at: fc
    .tuple(fc.constantFrom(SPRING, AUTUMN), fc.integer({ min: 0, max: DAYS * DAY_MS - 1 }))
    .map(([from, ms]) => new Date(from.getTime() + ms)),
  agentKey: fc.constantFrom('desk', 'sales', null),
  versionId: fc.constantFrom(...VERSIONS, null),
  versionNumber: fc.constantFrom(1, 2),
  talkSeconds: fc.option(fc.integer({ min: 0, max: 3_000 }), { nil: null }),
  timesMs: fc.array(fc.integer({ min: 60, max: 20_000 }), { maxLength: 4 }),
  score: fc.option(fc.constantFrom(0, 0.25, 0.7999, 0.8, 1), { nil: null }),
  costUsd: fc.option(
    fc.integer({ max: 9_999_999, min: 0 }).map((parts) => parts / 1e6),
    { nil: null },
  ),
  outcome: fc.option(fc.constantFrom('sale', 'no sale'), { nil: null }),
})

const someAsk: fc.Arbitrary<AnalyticsAsk> = fc
  .record({
    from: fc.constantFrom(SPRING, AUTUMN),
    sinceHours: fc.integer({ min: 0, max: 40 }),
    hours: fc.integer({ min: 1, max: 72 }),
    interval: fc.constantFrom('day', 'day', 'hour', 'all'),
    timeZone: fc.constantFrom(...ZONES),
    groupBy: fc.constantFrom(null, 'agent', 'version'),
    agentKey: fc.constantFrom(undefined, undefined, 'desk'),
    agentVersionId: fc.constantFrom(undefined, undefined, VERSIONS[0]),
  })
  .map(({ from, sinceHours, hours, ...ask }) => {
    const since = after(sinceHours, from)
    return { ...ask, since, until: after(hours, since) }
  })

/** What is answered when every day is read by its hours. */
async function byHours(asks: AnalyticsAsk[]) {
  const undone = await test.db.startTransaction().execute()
  try {
    await sql`
      insert into call_day_changes (tenant_id, starts_at)
      select distinct tenant_id, date_trunc('day', starts_at, 'UTC') from call_rollups`.execute(undone)
    return await answers(asks, undone)
  } finally {
    await undone.rollback().execute()
  }
}

async function answers(asks: AnalyticsAsk[], db = test.db) {
  const found = []
  for (const ask of asks) {
    const { countedUntil: _, ...answer } = await analytics(db).ofTenant(ACME, ask)
    found.push(answer)
  }
  return found
}

const notes = () =>
  test.db.selectFrom('call_day_changes').select(['tenant_id', 'starts_at']).orderBy('starts_at').execute()

async function longerRows(table: 'call_rollups' | 'call_outcome_rollups'): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(table)} where minutes > 60`.execute(test.db)
  return rows[0]?.count ?? 0
}

describe('adding up the hours of days', () => {
  it('changes no answer, in whatever zone, also while some days are added up and others are not', async () => {
    const some = <T>(each: fc.Arbitrary<T>, maxLength: number) => fc.array(each, { minLength: 1, maxLength })
    await fc.assert(
      fc.asyncProperty(some(someCall, 10), some(someCall, 3), some(someAsk, 5), async (calls, late, asks) => {
        for (const table of ['call_logs', 'voice_sessions', 'call_changes', 'call_rollups', 'call_outcome_rollups'])
          await sql`delete from ${sql.table(table)}`.execute(test.db)
        await test.db.deleteFrom('call_day_changes').execute()
        for (const call of calls) await addCall(test.db, ACME, call)
        await countAll(test.db)
        const first = await answers(asks)
        await sweep()
        expect(await notes()).toEqual([])
        expect(await answers(asks)).toEqual(first)
        expect(await byHours(asks)).toEqual(first)

        // Hours that are counted again make of their days days that are read by hours, until the next sweep.
        for (const call of late) await addCall(test.db, ACME, call)
        await sql`delete from call_logs where id = (select id from call_logs order by id limit 1)`.execute(test.db)
        await countAll(test.db)
        const second = await byHours(asks)
        expect(await answers(asks)).toEqual(second)
        await sweep()
        expect(await notes()).toEqual([])
        expect(await answers(asks)).toEqual(second)
      }),
      { numRuns: 4 },
    )
  })

  it('lets a day be read as one row, one of a zone as a few, and a noted one as its hours', async () => {
    for (let hour = 0; hour < 4 * 24; hour += 2) await addCall(test.db, ACME, { at: after(hour), outcome: 'sale' })
    await sweep()
    const rowsRead = async (timeZone: string) => {
      const ask = { interval: 'day', since: SPRING, until: after(4 * 24), timeZone, groupBy: 'version' } as const
      const plans = await plansOf(test.db, (db) => analytics(db).ofTenant(ACME, ask))
      return Math.max(...plans.map(({ rows }) => rows))
    }
    // A plan counts rows by rounded averages.
    expect(await rowsRead('UTC')).toBe(4)
    expect(await rowsRead('Europe/Berlin')).toBeLessThanOrEqual(5 * 2 + 4)
    expect(await rowsRead('Asia/Kolkata')).toBeLessThanOrEqual(5 * 3 + 5)
    await countHourAgain(6)
    expect(await rowsRead('UTC')).toBeLessThanOrEqual(3 + 12 + 6)
  })

  it('begins once a day is over and all of its hours are counted', async () => {
    await addCall(test.db, ACME, { at: after(3) })
    const dueAt = async (now: Date) =>
      (await listChangedDaysAcrossTenants(test.db, { tenantId: null, now, limit: 9 })).length
    expect(await dueAt(after(48))).toBe(0)
    await countAll(test.db)
    expect([await dueAt(after(23.99)), await dueAt(after(24))]).toEqual([0, 1])
    await addCall(test.db, ACME, { at: after(4) })
    expect(await dueAt(after(48))).toBe(0)
    await countAll(test.db)
    expect(await dueAt(after(48))).toBe(1)
    const ofGlobex = { tenantId: GLOBEX, now: after(48), limit: 9 }
    expect(await listChangedDaysAcrossTenants(test.db, ofGlobex)).toEqual([])
  })

  it('waits for an hour where a day has been added up before', async () => {
    await addCall(test.db, ACME, { at: after(3) })
    await sweep()
    await countHourAgain(3)
    await sql`update call_day_changes set changed_at = ${after(100)}`.execute(test.db)
    const dueAt = (now: Date) => listChangedDaysAcrossTenants(test.db, { tenantId: null, now, limit: 9 })
    expect([await dueAt(after(100.99)), await dueAt(after(101))]).toEqual([[], [day()]])
  })

  it('takes back what was added up of a day whose calls are gone', async () => {
    await addCall(test.db, ACME, { at: after(3), outcome: 'sale' })
    await sweep()
    // By agent and in all, of the day and of each 23 hours that have it.
    expect(await longerRows('call_rollups')).toBe(2 * (1 + 23))
    await sql`delete from call_logs`.execute(test.db)
    await sweep()
    expect([await countedRows(test.db), await notes()]).toEqual([[], []])
  })

  it('keeps no word that was erased from an hour, and shows none', async () => {
    const { callSid } = await addCall(test.db, ACME, { at: after(3), outcome: 'sale' })
    await addCall(test.db, GLOBEX, { at: after(3), outcome: 'sale' })
    await sweep()
    const before = await longerRows('call_outcome_rollups')
    await test.db.transaction().execute((tx) => forgetOutcomes(tx, ACME, callSid))
    expect(await longerRows('call_outcome_rollups')).toBe(before / 2)
    const ask = { interval: 'day', since: SPRING, until: after(24), timeZone: 'UTC', groupBy: null } as const
    expect((await analytics().ofTenant(ACME, ask)).totals).toMatchObject({ calls: 1, outcomes: [] })
    expect((await analytics().ofTenant(GLOBEX, ask)).totals.outcomes).toEqual([{ outcome: 'sale', calls: 1 }])
  })

  it('keeps no word that is erased while it is counted, or added up with the day behind its own', async () => {
    if (test.kind === 'embedded') return
    const other = await test.anotherNode()
    const { callSid } = await addCall(test.db, ACME, { at: after(3), outcome: 'sale' })
    await addCall(test.db, ACME, { at: after(27), outcome: 'no sale' })
    async function keptWhile(work: (tx: Tx) => Promise<boolean>) {
      let erasing: Promise<unknown> = Promise.resolve()
      await test.db.transaction().execute(async (tx) => {
        expect(await work(tx)).toBe(true)
        erasing = other.db.transaction().execute((otherTx) => forgetOutcomes(otherTx, ACME, callSid))
        await until(isOneWaiting, { what: 'it to wait' })
      })
      await erasing
      return (await countedRows(test.db)).filter((row) => row.includes(',sale,'))
    }
    expect(await keptWhile((tx) => countHour(tx, { tenant_id: ACME, starts_at: after(3) }))).toEqual([])
    await sql`insert into call_changes (tenant_id, starts_at) values (${ACME}, ${after(3)})`.execute(test.db)
    await sweep()
    await countHourAgain(27)
    expect(await keptWhile((tx) => addUpDay(tx, { ...day(), starts_at: after(24) }))).toEqual([])
  })

  it('notices what becomes of an hour, whoever writes it', async () => {
    await addCall(test.db, ACME, { at: after(3) })
    await sweep()
    // As the release before did, which knew of no days.
    await sql`delete from call_rollups where minutes in (15, 60)`.execute(test.db)
    expect(await notes()).toEqual([day()])
    const ask = { interval: 'day', since: SPRING, until: after(24), timeZone: 'UTC', groupBy: null } as const
    expect((await analytics().ofTenant(ACME, ask)).totals.calls).toBe(0)
  })

  it('leaves a day alone of which another node counts an hour, and takes it up when that is done', async () => {
    if (test.kind === 'embedded') return
    await addCall(test.db, ACME, { at: after(3) })
    await countAll(test.db)
    await addCall(test.db, ACME, { at: after(4) })
    const other = await test.anotherNode()
    const add = () => test.db.transaction().execute((tx) => addUpDay(tx, day()))
    await other.db.transaction().execute(async (tx) => {
      expect(await countHour(tx, { tenant_id: ACME, starts_at: after(4) })).toBe(true)
      expect(await add()).toBe(false)
    })
    expect([await notes(), await longerRows('call_rollups')]).toEqual([[day()], 0])
    expect(await add()).toBe(true)
    expect([await notes(), await longerRows('call_rollups')]).toEqual([[], 2 * (1 + 24)])
  })

  it('leaves a day noted of which an hour is counted meanwhile', async () => {
    if (test.kind === 'embedded') return
    await addCall(test.db, ACME, { at: after(3) })
    await countAll(test.db)
    const other = await test.anotherNode()
    let counting: Promise<unknown> = Promise.resolve()
    await test.db.transaction().execute(async (tx) => {
      expect(await addUpDay(tx, day())).toBe(true)
      await addCall(other.db, ACME, { at: after(4) })
      const hour = { tenant_id: ACME, starts_at: after(4) }
      counting = other.db.transaction().execute((otherTx) => countHour(otherTx, hour))
      await until(isOneWaiting, { what: 'it to wait' })
    })
    await counting
    expect(await notes()).toEqual([day()])
    const ask = { interval: 'day', since: SPRING, until: after(24), timeZone: 'UTC', groupBy: null } as const
    expect((await analytics().ofTenant(ACME, ask)).totals.calls).toBe(2)
  })

  it('adds nothing up twice when two nodes are at it at once', async () => {
    const other = await test.anotherNode()
    for (let hour = 0; hour < 48; hour += 6) await addCall(test.db, ACME, { at: after(hour), outcome: 'sale' })
    await countAll(test.db)
    const days = [0, 24].map((hours) => ({ ...day(), starts_at: after(hours) }))
    await Promise.all(
      [test.db, other.db].flatMap((db) => days.map((each) => db.transaction().execute((tx) => addUpDay(tx, each)))),
    )
    // What one was at, the others have left alone.
    while ((await notes()).length > 0) await sweep()
    for (const timeZone of ['UTC', 'Europe/Berlin']) {
      const ask = { interval: 'all', since: SPRING, until: after(48), timeZone, groupBy: null } as const
      const { totals } = await analytics().ofTenant(ACME, ask)
      expect(totals).toMatchObject({ calls: 8, outcomes: [{ outcome: 'sale', calls: 8 }] })
    }
  })

  it('goes on behind a day that fails, and counts hours whatever becomes of it', async () => {
    for (const tenantId of [ACME, GLOBEX]) await addCall(test.db, tenantId, { at: after(3) })
    await countAll(test.db)
    await haveTooMany()
    await addCall(test.db, GLOBEX, { at: after(30) })
    expect(await sweep()).toMatchObject({ counted_hours: 1, has_more: false, failures: [] })
    expect(await notes()).toEqual([day()])
  })

  it('comes back to a day that fails behind all others, also where a sweep has time for one day alone', async () => {
    for (const tenantId of [ACME, GLOBEX]) await addCall(test.db, tenantId, { at: after(3) })
    await countAll(test.db)
    await haveTooMany()
    await sql`update call_day_changes set changed_at = ${AUTUMN} where tenant_id = ${ACME}`.execute(test.db)
    await sql`update call_day_changes set changed_at = ${after(1, AUTUMN)} where tenant_id = ${GLOBEX}`.execute(test.db)
    const sweepOne = () => countCalls(deps(), { tenantId: null, limitHours: 1 })
    await sweepOne()
    expect(await notes()).toHaveLength(2)
    await sweepOne()
    expect(await notes()).toEqual([day()])
  })
})

/** So many calls of Acme that their sum is no integer any more. */
async function haveTooMany(): Promise<void> {
  await sql`update call_rollups set calls = 2147483647 where tenant_id = ${ACME}`.execute(test.db)
  await sql`
    insert into call_rollups select (jsonb_populate_record(counted, jsonb_build_object('starts_at', ${after(4)}::timestamptz))).*
      from call_rollups counted where tenant_id = ${ACME} and minutes = 60`.execute(test.db)
}

async function isOneWaiting(): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(test.db)
  return rows.length === 1
}

async function countHourAgain(hour: number): Promise<void> {
  await sql`insert into call_changes (tenant_id, starts_at) values (${ACME}, ${after(hour)})`.execute(test.db)
  expect(await countAll(test.db)).toBe(1)
}
