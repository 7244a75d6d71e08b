import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { useDatabase } from '../../test/harness/database.ts'
import { plansOf, type QueryPlan } from '../../test/harness/plans.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { PageRequest } from '../kernel/pages.ts'
import { readPage } from '../kernel/pages.ts'
import type { JsonPage } from '../platform/db/json-page.ts'
import type { Db } from '../platform/db/schema.ts'
import { makeCallLogs } from './call-logs.ts'
import { makeVoiceSessions, type SessionQuery } from './voice-sessions.ts'

const ROWS = 3_000
const PAGE_ROWS = 50
const acme = 'acme' as TenantId
const CAMPAIGN = '0190a000-0000-7000-8000-000000000001'

const test = useDatabase({ isFilledOnce: true, isNew: true })

type Listed = { call_sid: string }
type List = (db: Db, filter: SessionQuery, page: PageRequest) => Promise<JsonPage>

const LISTS: [name: string, list: List][] = [
  ['call logs', (db, filter, page) => makeCallLogs({ db }).list(acme, filter, page)],
  ['voice sessions', (db, filter, page) => makeVoiceSessions({ db }).list(acme, filter, page)],
]

/** Two tenants' calls, several of them in each millisecond. The oldest tenth is unlike the others in every respect. */
async function fill(db: Db): Promise<void> {
  for (const id of ['acme', 'globex']) await makeTenant(db, id)
  await sql`
    insert into call_logs (tenant_id, id, call_sid, voice_session_id, direction, "from", "to", status, status_at, agent_key,
                           created_at, started_at, escalated, metadata)
    select tenant_id, gen_random_uuid(), 'CA' || tenant_id || n, gen_random_uuid(),
           case when is_old then 'outbound' else 'inbound' end,
           case when is_old then '+12025550102' else '+12025550101' end,
           case when is_old then '+12025550198' else '+12025550199' end,
           case when is_old then 'busy' else 'completed' end,
           at, case when is_old then 'sales' else 'support' end, at, at, false, '{}'
      from tenants, generate_series(1, ${sql.lit(ROWS)}) n,
           lateral (select timestamptz '2030-01-01' + n / 7 * interval '1 millisecond' as at,
                           n <= ${sql.lit(ROWS / 10)} as is_old) row`.execute(db)
  await sql`update call_logs set campaign_id = ${CAMPAIGN} where direction = 'outbound'`.execute(db)
  await sql`
    insert into voice_sessions (tenant_id, id, call_sid, direction, "from", "to", call_status, agent_key,
                                audio_output_provider, created_at, started_at, end_reason, resumed_count, latency, usage,
                                tags, metadata)
    select tenant_id, voice_session_id, call_sid, direction, "from", "to", status, agent_key, 'primary', created_at,
           started_at, case status when 'busy' then 'rejected' else 'caller_hangup' end, 0, '{}', '{}',
           case direction when 'outbound' then array['vip'] else array[]::text[] end, '{}'
      from call_logs`.execute(db)
  await sql`vacuum analyze`.execute(db)
}

async function allPages(list: List, filter: SessionQuery): Promise<{ sids: string[]; cursors: string[] }> {
  const sids: string[] = []
  const cursors: string[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await list(test.db, filter, readPage({ limit: PAGE_ROWS, ...(cursor !== undefined && { cursor }) }))
    const rows: Listed[] = JSON.parse(page.json)
    expect(rows).toHaveLength(page.count)
    sids.push(...rows.map(({ call_sid }) => call_sid))
    cursor = page.nextCursor
    if (cursor !== null) cursors.push(cursor)
  }
  return { sids, cursors }
}

/** What the lists are sorted by, of each call and of each session. */
async function sortKeys(db: Db, name: string): Promise<Map<string, string>> {
  const table = sql.table(name === 'call logs' ? 'call_logs' : 'voice_sessions')
  const { rows } = await sql<{ call_sid: string; id: string; created_at: Date }>`
    select call_sid, id, created_at from ${table}`.execute(db)
  return new Map(rows.map(({ call_sid, id, created_at }) => [call_sid, `${created_at.toISOString()} ${id}`]))
}

async function planOf(list: List, filter: SessionQuery, cursor?: string): Promise<QueryPlan> {
  const page = readPage({ limit: PAGE_ROWS, ...(cursor !== undefined && { cursor }) })
  const [plan] = await plansOf(test.db, (db) => list(db, filter, page))
  if (!plan) throw new Error('nothing was asked')
  return plan
}

const FILTERS: [name: string, filter: SessionQuery, expectedRows: number][] = [
  ['no filter', {}, ROWS],
  ['a direction', { direction: 'outbound' }, ROWS / 10],
  ['a caller', { from: '+12025550102' }, ROWS / 10],
  ['a callee', { to: '+12025550198' }, ROWS / 10],
  ['a status', { status: 'busy' }, ROWS / 10],
  ['an agent', { agentKey: 'sales' }, ROWS / 10],
  ['an early time', { startedBefore: new Date('2030-01-01T00:00:00.100Z') }, 699],
  ['a late time', { startedAfter: new Date('2030-01-01T00:00:00.400Z') }, 201],
]

beforeAll(() => fill(test.db))

describe.each(LISTS)('a list of 3,000 %s', (name, list) => {
  it('shows each row once, newest first, ties by id, on pages of which each costs what the first one costs', async () => {
    const keyOf = await sortKeys(test.db, name)
    for (const [what, filter, expectedRows] of FILTERS) {
      const { sids, cursors } = await allPages(list, filter)
      const keys = sids.map((sid) => keyOf.get(sid))
      expect([what, new Set(keys).size], what).toEqual([what, expectedRows])
      expect(keys, what).toEqual(keys.toSorted().reverse())
      const [first, last] = [await planOf(list, filter), await planOf(list, filter, cursors.at(-2))]
      for (const { nodes } of [first, last]) expect([...nodes], `${name} by ${what}`).not.toContain('Seq Scan')
      // A row that is read lies on a block of its own at worst; the index has a few more.
      expect(Math.max(first.blocks, last.blocks), `${name} by ${what}`).toBeLessThan(1.5 * PAGE_ROWS)
    }
  })
})

describe('the calls of one campaign among 3,000', () => {
  const list: List = (db, _filter, page) => makeCallLogs({ db }).list(acme, { campaignId: CAMPAIGN }, page)

  it('are shown alone, on pages of which each costs what the first one costs', async () => {
    const { sids, cursors } = await allPages(list, {})
    expect(new Set(sids).size).toBe(ROWS / 10)
    for (const cursor of [undefined, cursors.at(-2)]) {
      const { nodes, blocks, indexes } = await planOf(list, {}, cursor)
      expect([...nodes]).not.toContain('Seq Scan')
      expect([...indexes]).toContain('call_logs_by_campaign')
      expect(blocks).toBeLessThan(1.5 * PAGE_ROWS)
    }
  })

  it('are none of a campaign that is not there', async () => {
    const filter = { campaignId: '0190a000-0000-7000-8000-000000000002' }
    expect(await makeCallLogs({ db: test.db }).list(acme, filter, readPage({}))).toMatchObject({ count: 0 })
  })
})
