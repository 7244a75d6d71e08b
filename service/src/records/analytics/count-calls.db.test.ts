import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { plansOf } from '../../../test/harness/plans.ts'
import { makeTenant } from '../../../test/harness/tenants.ts'
import type { AgentVersionId, TenantId } from '../../kernel/ids.ts'
import type { CallStatus } from '../call-values.ts'
import { tenantTold } from '../calls.fixture.ts'
import { addOutcome, updateVoiceSession } from '../voice-session-store.ts'
import { addCall, type CallFacts, countAll, countedRows, qaOf } from './analytics.fixture.ts'
import { makeCallAnalytics } from './call-analytics.ts'
import { countCalls } from './count-calls.ts'
import { countTimes, percentileMs } from './response-times.ts'
import { countHour, oldestChange } from './rollup-store.ts'

const ACME = 'acme' as TenantId
const GLOBEX = 'globex' as TenantId
const HOUR = new Date('2030-01-01T08:00:00.000Z')
const VERSIONS = [1, 2].map((n) => `0190c000-0000-7000-8000-00000000000${n}` as AgentVersionId)
const HOUR_MS = 3_600_000

const test = useDatabase()
const clock = new TestClock(HOUR.getTime() + 6 * HOUR_MS)
const silent = { error: () => {} }
const tenants = { get: async (id: TenantId) => tenantTold(id) }
const analytics = () => makeCallAnalytics({ db: test.db, clock, tenants })
const after = (minutes: number) => new Date(HOUR.getTime() + minutes * 60_000)
const ASK = { interval: 'all', since: HOUR, until: after(360), timeZone: 'UTC', groupBy: null } as const
const totals = async (tenantId = ACME) => (await analytics().ofTenant(tenantId, ASK)).totals
const deps = () => ({ db: test.db, clock, log: silent, isStopping: () => false })

beforeEach(async () => {
  await makeTenant(test.db, ACME)
  await makeTenant(test.db, GLOBEX)
})

describe('counting calls', () => {
  it('comes to what the calls are, whatever they are, by hour and by quarter of an hour', async () => {
    const someCall: fc.Arbitrary<CallFacts> = fc.record({
      at: fc.integer({ min: 0, max: 6 * HOUR_MS - 1 }).map((ms) => new Date(HOUR.getTime() + ms)),
      status: fc.constantFrom<CallStatus[]>('completed', 'busy', 'failed', 'no-answer', 'canceled'),
      agentKey: fc.constantFrom('desk', 'sales', null),
      versionId: fc.constantFrom(...VERSIONS, null),
      versionNumber: fc.constantFrom(1, 2),
      talkSeconds: fc.option(fc.integer({ min: 0, max: 3_000 })),
      escalated: fc.boolean(),
      interruptions: fc.nat(5),
      timesMs: fc.array(fc.integer({ min: 60, max: 20_000 }), { maxLength: 4 }),
      score: fc.option(fc.constantFrom(0, 0.25, 0.7999, 0.8, 1)),
      costUsd: fc.option(fc.integer({ max: 9_999_999, min: 0 }).map((parts) => parts / 1e6)),
      outcome: fc.option(fc.constantFrom('sale', 'no sale', ' sale ')),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(someCall, { minLength: 1, maxLength: 12 }), async (calls) => {
        for (const table of ['call_logs', 'voice_sessions', 'call_changes', 'call_rollups', 'call_outcome_rollups'])
          await sql`delete from ${sql.table(table)}`.execute(test.db)
        for (const call of calls) await addCall(test.db, ACME, call)
        await countAll(test.db)
        const expected = expectedOf(calls)
        for (const timeZone of ['UTC', 'Asia/Kathmandu']) {
          const found = await analytics().ofTenant(ACME, { ...ASK, timeZone })
          expect(found.totals).toEqual(expected)
          const byHour = await analytics().ofTenant(ACME, { ...ASK, timeZone, interval: 'hour' })
          expect(byHour.totals).toEqual(expected)
          const grouped = await analytics().ofTenant(ACME, { ...ASK, timeZone, groupBy: 'version' })
          expect(grouped.totals).toEqual(expected)
        }
      }),
      { numRuns: 12 },
    )
  })

  it('adds up the days of a zone of half hours from hours, and from quarters only where a day ends within one', async () => {
    for (let n = 0; n < 96; n += 1) await addCall(test.db, ACME, { at: after(n * 15), outcome: 'sale' })
    await countAll(test.db)
    const ask = { ...ASK, interval: 'day', timeZone: 'Asia/Kolkata', until: after(24 * 60) } as const
    const { rows, totals: inAll } = await analytics().ofTenant(ACME, ask)
    // It is 13:30 there when the first one calls.
    expect(rows.map(({ calls }) => calls)).toEqual([42, 54])
    expect(rows.map(({ outcomes }) => outcomes)).toEqual([42, 54].map((calls) => [{ outcome: 'sale', calls }]))
    expect(inAll).toMatchObject({ calls: 96, outcomes: [{ outcome: 'sale', calls: 96 }] })
    const plans = await plansOf(test.db, (db) => makeCallAnalytics({ db, clock, tenants }).ofTenant(ACME, ask))
    const read = plans.map(({ rows: rowsRead }) => rowsRead).filter((count) => count > 0)
    expect(read).toHaveLength(2)
    // 23 hours and four quarters, of calls and of outcomes; a plan counts rows by rounded averages.
    expect(Math.max(...read)).toBeLessThan(36)
  })

  it('averages scores exactly, by whatever spans they are added up', async () => {
    // As floating-point numbers these are a little less than half of a ten-thousandth apart from one, or a little more.
    for (const [n, score] of [0.25, 0.7999].entries()) await addCall(test.db, ACME, { at: after(n * 65), score })
    await countAll(test.db)
    for (const interval of ['all', 'hour'] as const)
      expect((await analytics().ofTenant(ACME, { ...ASK, interval })).totals.avg_score).toBe(0.525)
  })

  it('counts what changed later, and an hour that was counted stays as it is when it is counted again', async () => {
    const { sessionId, id } = await addCall(test.db, ACME, { at: after(5), timesMs: [500], interruptions: 2 })
    await addCall(test.db, ACME, { at: after(65) })
    expect(await countAll(test.db)).toBe(2)
    const first = await countedRows(test.db)
    await sql`insert into call_changes (tenant_id, starts_at) values (${ACME}, ${HOUR})`.execute(test.db)
    expect(await countAll(test.db)).toBe(1)
    expect(await countedRows(test.db)).toEqual(first)
    expect(await countAll(test.db)).toBe(0)

    await test.db.transaction().execute((tx) => updateVoiceSession(tx, ACME, sessionId, { qa: qaOf(0.9) }))
    await addOutcome(test.db, ACME, sessionId, { tags: [], outcome: 'sale', notes: null })
    await test.db.updateTable('call_logs').set({ escalated: true, duration_seconds: 90 }).where('id', '=', id).execute()
    expect(await countAll(test.db)).toBe(1)
    expect(await totals()).toMatchObject({
      ...{ calls: 2, minutes: 2.5, escalated: 1, scored: 1, avg_score: 0.9, interruptions: 2, responses: 1 },
      outcomes: [{ outcome: 'sale', calls: 1 }],
    })
    await test.db.updateTable('call_logs').set({ cost_usd: 0.5 }).where('id', '=', id).execute()
    expect(await countAll(test.db)).toBe(1)
    expect(await totals()).toMatchObject({ costed: 1, cost_usd: 0.5 })
    await test.db.updateTable('call_logs').set({ summary: 'Said nothing.' }).execute()
    expect(await countAll(test.db)).toBe(0)
  })

  it('leaves a change that is not committed to be counted when it is', async () => {
    if (test.kind === 'embedded') return
    await addCall(test.db, ACME, { at: after(5) })
    const other = await test.anotherNode()
    await other.db.transaction().execute(async (tx) => {
      await sql`update call_logs set escalated = true`.execute(tx)
      await countAll(test.db)
    })
    expect(await totals()).toMatchObject({ calls: 1, escalated: 0 })
    expect(await countAll(test.db)).toBe(1)
    expect(await totals()).toMatchObject({ calls: 1, escalated: 1 })
  })

  it('counts nothing twice when two nodes are at it at once', async () => {
    const other = await test.anotherNode()
    for (let n = 0; n < 24; n += 1) await addCall(test.db, ACME, { at: after(n * 15), outcome: 'sale' })
    const ask = { tenantId: null, limitHours: 100 }
    const found = await Promise.all([countCalls(deps(), ask), countCalls({ ...deps(), db: other.db }, ask)])
    // What one was at, the other has left alone.
    while ((await countCalls(deps(), ask)).counted_hours > 0);
    expect(found.flatMap(({ failures }) => failures)).toEqual([])
    expect(await totals()).toMatchObject({ calls: 24, minutes: 24, outcomes: [{ outcome: 'sale', calls: 24 }] })
  })

  it('leaves an hour alone that another node is counting', async () => {
    if (test.kind === 'embedded') return
    await addCall(test.db, ACME, { at: after(5) })
    const other = await test.anotherNode()
    const hour = { tenant_id: ACME, starts_at: HOUR }
    await other.db.transaction().execute(async (tx) => {
      expect(await countHour(tx, hour)).toBe(true)
      expect(await countCalls(deps(), { tenantId: null, limitHours: 10 })).toMatchObject({ counted_hours: 0 })
    })
    expect(await totals()).toMatchObject({ calls: 1 })
  })

  it('goes on behind an hour that fails, says so, and begins nothing more when the service stops', async () => {
    const { sessionId } = await addCall(test.db, ACME, { at: after(5) })
    await addCall(test.db, GLOBEX, { at: after(5) })
    const latency = sql`jsonb_build_object('interruptions', 'many')`
    await sql`update voice_sessions set latency = ${latency} where id = ${sessionId}`.execute(test.db)
    const ask = { tenantId: null, limitHours: 10 }
    expect(await countCalls({ ...deps(), isStopping: () => true }, ask)).toMatchObject({
      counted_hours: 0,
      has_more: true,
    })
    const found = await countCalls(deps(), ask)
    expect(found).toMatchObject({ counted_hours: 1, has_more: true, failures: [{ tenant_id: ACME, starts_at: HOUR }] })
    expect([await totals(), await totals(GLOBEX)]).toMatchObject([{ calls: 0 }, { calls: 1 }])
  })

  it('counts the others first where an hour has failed before, and knows since when that has waited', async () => {
    const { sessionId } = await addCall(test.db, ACME, { at: after(5) })
    await addCall(test.db, GLOBEX, { at: after(5) })
    await sql`update call_changes set changed_at = changed_at - interval '1 minute' where tenant_id = ${ACME}`.execute(
      test.db,
    )
    const latency = sql`jsonb_build_object('interruptions', 'many')`
    await sql`update voice_sessions set latency = ${latency} where id = ${sessionId}`.execute(test.db)
    const since = await oldestChange(test.db, null)
    const one = () => countCalls(deps(), { tenantId: null, limitHours: 1 })
    expect(await one()).toMatchObject({ counted_hours: 0, failures: [{ tenant_id: ACME }] })
    expect(await one()).toMatchObject({ counted_hours: 1, failures: [] })
    expect(await oldestChange(test.db, null)).toEqual(since)
  })

  it('leaves nothing of a tenant that is removed', async () => {
    await addCall(test.db, ACME, { at: after(5), outcome: 'sale' })
    await countAll(test.db)
    await addCall(test.db, ACME, { at: after(6) })
    await test.db.deleteFrom('tenants').where('tenant_id', '=', ACME).execute()
    expect(await countAll(test.db)).toBe(0)
    expect(await countedRows(test.db)).toEqual([])
  })

  it('keeps the fifty outcomes of a span that occur most, and how many the others are', async () => {
    for (let n = 0; n < 53; n += 1) await addCall(test.db, ACME, { at: after(5), outcome: `outcome ${n}` })
    await addCall(test.db, ACME, { at: after(5), outcome: 'outcome 52' })
    await countAll(test.db)
    const { rows } = await sql<{ count: number }>`
      select count(*)::integer as count from call_outcome_rollups where minutes = 60 and is_whole`.execute(test.db)
    expect(rows).toEqual([{ count: 51 }])
    const { outcomes } = await totals()
    expect([outcomes[0], outcomes.at(-1)]).toEqual([
      { outcome: 'outcome 52', calls: 2 },
      { outcome: null, calls: 43 },
    ])
  })
})

/** The same by another way: from the calls themselves. */
function expectedOf(calls: CallFacts[]) {
  const having = (test: (call: CallFacts) => boolean) => calls.filter(test).length
  const scores = calls.flatMap(({ score }) => (score === null ? [] : [score]))
  const parts = scores.reduce((sum, score) => sum + Math.round(score * 10_000), 0)
  const costs = calls.flatMap(({ costUsd }) => (costUsd === null ? [] : [costUsd]))
  const times = countTimes(calls.flatMap(({ timesMs }) => timesMs))
  const share = (part: number, whole: number) => (whole === 0 ? null : Number((part / whole).toFixed(4)))
  const answered = having(({ talkSeconds }) => talkSeconds !== null)
  const outcomes = Object.entries(Object.groupBy(calls, ({ outcome }) => outcome?.trim() ?? ''))
    .filter(([outcome]) => outcome !== '')
    .map(([outcome, those = []]) => ({ outcome, calls: those.length }))
  return {
    ...{ calls: calls.length, answered, answer_rate: share(answered, calls.length) },
    statuses: Object.fromEntries(
      ['completed', 'busy', 'failed', 'no-answer', 'canceled'].map((name) => [name, having((c) => c.status === name)]),
    ),
    escalated: having(({ escalated }) => escalated),
    minutes: Number((calls.reduce((sum, { talkSeconds }) => sum + (talkSeconds ?? 0), 0) / 60).toFixed(2)),
    costed: costs.length,
    cost_usd: costs.length === 0 ? null : Number(costs.reduce((sum, cost) => sum + cost, 0).toFixed(6)),
    interruptions: calls.reduce((sum, call) => sum + call.interruptions, 0),
    responses: calls.reduce((sum, call) => sum + call.timesMs.length, 0),
    ...{ response_p50_ms: percentileMs(times, 50), response_p95_ms: percentileMs(times, 95) },
    scored: scores.length,
    avg_score: scores.length === 0 ? null : Math.round(parts / scores.length) / 10_000,
    high_quality_rate: share(scores.filter((score) => score >= 0.8).length, scores.length),
    outcomes: outcomes.toSorted((a, b) => b.calls - a.calls || (a.outcome < b.outcome ? -1 : 1)),
  }
}
