import { sql } from 'kysely'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { useAdminServer } from '../../../test/harness/admin-server.ts'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { makeTenantWithToken, useTenantServer } from '../../../test/harness/tenant-server.ts'
import { systemClock } from '../../kernel/clock.ts'
import type { AgentVersionId, TenantId } from '../../kernel/ids.ts'
import { openServer } from '../../platform/db/server.ts'
import { makeLog } from '../../platform/log.ts'
import { makeCredentials } from '../../tenancy/credentials.ts'
import { NO_ACCOUNT } from '../../tenancy/no-account.fixture.ts'
import { toRuntime } from '../../tenancy/tenant-defaults.ts'
import { tenantByToken } from '../../tenancy/token-filter.ts'
import { addCall, countAll } from './analytics.fixture.ts'
import { analyticsAdminRoutes } from './analytics-admin-routes.ts'
import { analyticsRoutes } from './analytics-routes.ts'
import { makeCallAnalytics } from './call-analytics.ts'
import { countCalls } from './count-calls.ts'

type Row = Record<string, unknown> & { calls: number; starts_at: string }
type Body = { analytics: { totals: Row; rows: Row[] } & Record<string, unknown>; details?: unknown }

const ACME = 'acme' as TenantId
const GLOBEX = 'globex' as TenantId
const NOW = new Date('2030-01-03T10:30:00.000Z')
const VERSION = '0190c000-0000-7000-8000-000000000001' as AgentVersionId

const test = useDatabase()
const clock = new TestClock(NOW.getTime())
const log = makeLog({ level: 'silent', secrets: [] })
/** Globex names a zone. */
const tenants = {
  get: async (id: TenantId) => {
    const compliance = id === GLOBEX ? { timezone: 'America/New_York' } : {}
    return toRuntime({ tenant_id: id, compliance }, NO_ACCOUNT)
  },
}
// Nobody listens there.
const unreachable = openServer({ url: 'postgres://parley@127.0.0.1:1/parley', applicationName: 'test' })
const analytics = () => makeCallAnalytics({ db: test.db, clock, tenants })
const server = useTenantServer(
  () => test.db,
  () => [analyticsRoutes(analytics())],
)
const down = useTenantServer(
  () => test.db,
  () => [analyticsRoutes(makeCallAnalytics({ db: unreachable.db, clock, tenants }))],
)
const admin = useAdminServer(() => {
  const credentials = makeCredentials({ db: test.db, clock: systemClock, log, legacyEnabled: true })
  return [
    analyticsAdminRoutes({
      analytics: analytics(),
      count: (ask) => countCalls({ db: test.db, clock, log, isStopping: () => false }, ask),
      tenantBy: tenantByToken(credentials),
    }),
  ]
})
afterAll(() => unreachable.close())

const get = (query = '', tenant: string | null = 'acme') => server.call<Body>(tenant, 'GET', `/analytics/calls${query}`)
const read = async (query = '', tenant = 'acme') => (await get(query, tenant)).body.analytics
const callsOf = (rows: Row[]) => rows.map(({ starts_at, calls }) => [starts_at.slice(0, 16), calls])
const filled = (rows: Row[]) => rows.filter(({ calls }) => calls > 0)
const at = (text: string) => new Date(`2030-01-${text}:00.000Z`)

beforeEach(async () => {
  for (const id of [ACME, GLOBEX]) await makeTenantWithToken(test.db, id)
  const spoken = { timesMs: [400, 600, 2_000], interruptions: 1, score: 0.9, outcome: 'sale', costUsd: 0.25 }
  await addCall(test.db, ACME, { at: at('03T08:10'), ...spoken, versionId: VERSION, versionNumber: 2 })
  await addCall(test.db, ACME, { at: at('03T08:50'), status: 'no-answer', talkSeconds: null, agentKey: 'sales' })
  await addCall(test.db, ACME, { at: at('02T23:30'), talkSeconds: 90, escalated: true, score: 0.5 })
  await addCall(test.db, GLOBEX, { at: at('03T02:00'), talkSeconds: 120 })
  await countAll(test.db)
})

describe('GET analytics/calls', () => {
  it('are what the calls of each hour came to', async () => {
    const query = '?interval=hour&since=2030-01-03T08:00:00Z&until=2030-01-03T10:00:00Z'
    const { status, body } = await get(query)
    const first = {
      ...{
        calls: 2,
        answered: 1,
        answer_rate: 0.5,
        escalated: 0,
        minutes: 1,
        interruptions: 1,
        costed: 1,
        cost_usd: 0.25,
      },
      statuses: { completed: 1, busy: 0, failed: 0, 'no-answer': 1, canceled: 0 },
      ...{ responses: 3, scored: 1, avg_score: 0.9, high_quality_rate: 1 },
      outcomes: [{ outcome: 'sale', calls: 1 }],
      ...{ response_p50_ms: expect.any(Number), response_p95_ms: expect.any(Number) },
    }
    const none = {
      ...{
        calls: 0,
        answered: 0,
        answer_rate: null,
        escalated: 0,
        minutes: 0,
        interruptions: 0,
        costed: 0,
        cost_usd: null,
      },
      statuses: { completed: 0, busy: 0, failed: 0, 'no-answer': 0, canceled: 0 },
      ...{ responses: 0, response_p50_ms: null, response_p95_ms: null },
      ...{ scored: 0, avg_score: null, high_quality_rate: null, outcomes: [] },
    }
    const [eight, nine, ten] = ['08', '09', '10'].map((hour) => `2030-01-03T${hour}:00:00.000Z`)
    expect([status, body]).toEqual([
      200,
      {
        ok: true,
        analytics: {
          ...{ interval: 'hour', time_zone: 'UTC', since: eight, until: ten, counted_until: NOW.toISOString() },
          totals: first,
          rows: [
            { starts_at: eight, ends_at: nine, ...first },
            { starts_at: nine, ends_at: ten, ...none },
          ],
        },
      },
    ])
    const { response_p50_ms: p50, response_p95_ms: p95 } = body.analytics.totals as unknown as Record<string, number>
    expect(Math.abs((p50 ?? 0) - 600)).toBeLessThan(25)
    expect(Math.abs((p95 ?? 0) - 2_000)).toBeLessThan(81)
  })

  it("are of seven days in the tenant's zone when nothing is said, or in the one that is", async () => {
    const mine = await read()
    expect([mine['interval'], mine['time_zone'], mine.rows.length]).toEqual(['day', 'UTC', 8])
    expect(callsOf(filled(mine.rows))).toEqual([
      ['2030-01-02T00:00', 1],
      ['2030-01-03T00:00', 2],
    ])
    expect(callsOf(filled((await read('', 'globex')).rows))).toEqual([['2030-01-02T05:00', 1]])
    expect(callsOf(filled((await read('?time_zone=Asia/Kathmandu')).rows))).toEqual([['2030-01-02T18:15', 3]])
    const all = await read('?interval=all')
    expect([all.rows.length, all.totals.calls]).toEqual([1, 3])
  })

  it('are told apart by agent and by version, and can be of one alone', async () => {
    const byAgent = await read('?interval=all&group_by=agent')
    expect(byAgent.rows.map(({ agent_key, calls }) => [agent_key, calls])).toEqual([
      ['desk', 2],
      ['sales', 1],
    ])
    expect(byAgent.totals.calls).toBe(3)
    const byVersion = await read('?interval=all&group_by=version')
    expect(byVersion.rows.map((row) => [row['agent_key'], row['agent_version_id'], row['version_number']])).toEqual([
      ['desk', VERSION, 2],
      ['desk', null, null],
      ['sales', null, null],
    ])
    expect((await read('?agent_key=desk')).totals).toMatchObject({ calls: 2, avg_score: 0.7 })
    expect((await read(`?agent_version_id=${VERSION}`)).totals).toMatchObject({ calls: 1, avg_score: 0.9 })
    for (const query of ['?agent_key=nobody', '?agent_version_id=nobody', `?agent_version_id=${crypto.randomUUID()}`])
      expect((await read(query)).totals.calls).toBe(0)
  })

  it('say since when something waits to be counted', async () => {
    await addCall(test.db, ACME, { at: at('03T09:00') })
    const found = await read()
    expect(found.totals.calls).toBe(3)
    expect(Date.parse(String(found['counted_until']))).toBeLessThan(NOW.getTime())
    expect((await read('', 'globex'))['counted_until']).toBe(NOW.toISOString())
  })

  it("have nothing of another tenant's calls", async () => {
    expect((await read('?interval=all', 'globex')).totals).toMatchObject({ calls: 1, minutes: 2, outcomes: [] })
  })

  it.each([
    ['?interval=week', '/query/interval'],
    ['?since=yesterday', '/query/since'],
    ['?until=9999-12-31T23:59:59.999Z', '/query/until'],
    ['?since=2030-01-03T10:30:00Z', '/query/since'],
    ['?interval=hour&since=2029-12-01T00:00:00Z', '/query/since'],
    ['?since=2028-01-01T00:00:00Z', '/query/since'],
    ['?time_zone=Mars', '/query/time_zone'],
    ['?group_by=tenant', '/query/group_by'],
    ['?tenant_id=globex', '/query/tenant_id'],
  ])('are refused with 400: %s', async (query, path) => {
    const { status, body } = await get(query)
    expect([status, body]).toMatchObject([400, { code: 'invalid_request', details: [{ path }] }])
  })

  it('are refused with 400 when they would be more than 5,000 rows', async () => {
    await sql`
      insert into call_rollups (tenant_id, minutes, is_whole, starts_at, agent_key, calls, answered, completed, busy, failed,
                                no_answer, canceled, escalated, talk_seconds, costed, cost_usd, interruptions, scored, high_quality, score_sum)
      select 'acme', 60, false, ${at('01T00:00')}::timestamptz + hour * interval '1 hour', 'agent-' || n, 1, 0, 0, 0, 0, 0, 0, 0,
             0, 0, 0, 0, 0, 0, 0
        from generate_series(0, 23) hour, generate_series(1, 210) n`.execute(test.db)
    const range = 'since=2030-01-01T00:00:00Z&until=2030-01-02T00:00:00Z&group_by=agent'
    expect(await get(`?interval=hour&${range}`)).toMatchObject({
      status: 400,
      body: { details: [{ path: '/query/interval' }] },
    })
    expect((await read(`?interval=day&${range}`)).rows).toHaveLength(210)
  })

  it('have the ten outcomes that occur most and how many the others are, however many there are', async () => {
    await sql`
      insert into call_rollups (tenant_id, minutes, is_whole, starts_at, agent_key, calls, answered, completed, busy, failed,
                                no_answer, canceled, escalated, talk_seconds, costed, cost_usd, interruptions, scored, high_quality, score_sum)
      select 'acme', 60, true, ${at('01T00:00')}::timestamptz + hour * interval '1 hour', null, 5000, 0, 0, 0, 0, 0, 0, 0,
             0, 0, 0, 0, 0, 0, 0
        from generate_series(0, 23) hour`.execute(test.db)
    // In each hour one that occurs often, those of the hour alone, and what was too rare to be counted by itself.
    await sql`
      insert into call_outcome_rollups (tenant_id, minutes, is_whole, starts_at, outcome, calls)
      select 'acme', 60, true, ${at('01T00:00')}::timestamptz + hour * interval '1 hour',
             case n when 0 then null when 1 then 'sale' else 'other-' || hour || '-' || n end,
             case n when 0 then 7 when 1 then 2 else 1 end
        from generate_series(0, 23) hour, generate_series(0, 2200) n`.execute(test.db)
    const range = 'since=2030-01-01T00:00:00Z&until=2030-01-02T00:00:00Z'
    const { totals, rows } = await read(`?interval=hour&${range}`)
    const first = rows[0]?.['outcomes'] as { outcome: string | null; calls: number }[]
    expect([first.length, first[0], first.at(-1)]).toEqual([
      11,
      { outcome: 'sale', calls: 2 },
      { outcome: null, calls: 7 + 2_199 - 9 },
    ])
    const all = totals['outcomes'] as typeof first
    expect([all.length, all[0], all.at(-1)]).toEqual([
      11,
      { outcome: 'sale', calls: 48 },
      { outcome: null, calls: 24 * (7 + 2_199) - 9 },
    ])
  })

  it('need a credential, and a database', async () => {
    expect((await get('', null)).status).toBe(401)
    expect((await down.call('acme', 'GET', '/analytics/calls')).status).toBe(503)
  })
})

describe('the administration', () => {
  const ask = (query = '') => admin.call<Body>('GET', `/analytics/calls${query}`)

  it('are told for all tenants together, and by tenant', async () => {
    const all = await ask('?interval=all')
    expect([all.status, all.body.analytics.totals]).toMatchObject([200, { calls: 4, minutes: 4.5, avg_score: 0.7 }])
    const { rows } = (await ask('?group_by=tenant&interval=all')).body.analytics
    expect(rows.map(({ tenant_id, calls, minutes }) => [tenant_id, calls, minutes])).toEqual([
      ['acme', 3, 2.5],
      ['globex', 1, 2],
    ])
  })

  it('are counted by a sweep, as many hours as it is told', async () => {
    for (const day of ['01', '02']) await addCall(test.db, ACME, { at: at(`${day}T12:00`) })
    await addCall(test.db, GLOBEX, { at: at('01T12:00') })
    const sweep = (query: string) => admin.call<{ result: unknown }>('POST', `/analytics/sweep${query}`)
    expect((await sweep('?limit=0')).body.result).toEqual({ counted_hours: 0, has_more: true, failures: [] })
    const ofGlobex = await sweep('?auth_token=bearer-token-of-globex')
    expect(ofGlobex.body.result).toEqual({ counted_hours: 1, has_more: false, failures: [] })
    expect((await sweep('?limit=1')).body.result).toEqual({ counted_hours: 1, has_more: true, failures: [] })
    expect((await sweep('')).body.result).toEqual({ counted_hours: 1, has_more: false, failures: [] })
    expect((await ask('?interval=all')).body.analytics.totals.calls).toBe(7)
  })

  it.each([
    ['GET', '/analytics/calls?group_by=agent', 400],
    ['POST', '/analytics/sweep?limit=10001', 400],
    ['POST', '/analytics/sweep?auth_token=nobodys', 401],
  ] as const)('is refused: %s %s', async (method, path, status) => {
    expect((await admin.call(method, path)).status).toBe(status)
  })

  it('needs the admin key', async () => {
    expect((await admin.call('GET', '/analytics/calls', { adminKey: null })).status).toBe(401)
    expect((await admin.call('POST', '/analytics/sweep', { adminKey: null })).status).toBe(401)
  })
})
