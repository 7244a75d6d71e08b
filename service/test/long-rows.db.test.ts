import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeAgentVersions } from '../src/agents/agent-versions.ts'
import { listPrompts } from '../src/agents/prompt-store.ts'
import type { CampaignId } from '../src/calls/campaigns/campaign-store.ts'
import { listContacts } from '../src/calls/campaigns/contact-store.ts'
import type { TenantId } from '../src/kernel/ids.ts'
import { type Page, type PageRequest, readPage, toPage } from '../src/kernel/pages.ts'
import { listTaskChanges } from '../src/operators/callback-task-history-store.ts'
import {
  type CallbackTaskId,
  listCallbackTasksAcrossTenants,
  listDueCallbackTasks,
} from '../src/operators/callback-task-store.ts'
import type { FittingRows } from '../src/platform/db/fitting-rows.ts'
import type { JsonPage } from '../src/platform/db/json-page.ts'
import { makeCallLogs } from '../src/records/call-logs.ts'
import { listEvaluations } from '../src/records/evaluations/evaluation-store.ts'
import { listSupervisorActions } from '../src/records/supervisor-action-store.ts'
import { makeVoiceSessions } from '../src/records/voice-sessions.ts'
import { listAccessRequests } from '../src/tenancy/access-request-store.ts'
import { makeAuditLog } from '../src/tenancy/audit-log.ts'
import { listTenantsAcrossTenants } from '../src/tenancy/tenant-store.ts'
import { TestClock } from './harness/clock.ts'
import { useDatabase } from './harness/database.ts'
import { makeTenant } from './harness/tenants.ts'

const ACME = 'acme' as TenantId
const CAMPAIGN = '0190c000-0000-7000-8000-00000000000c' as CampaignId
const TASK = '00000000-0000-7000-8000-000000000001' as CallbackTaskId

const test = useDatabase()

/** Four rows of each list, of half a megabyte each: a table keeps far less of what repeats itself. The oldest is longer than a page may be. */
async function fill(): Promise<void> {
  await makeTenant(test.db, ACME)
  const rows = sql`
    generate_series(1, 4) n,
    lateral (select timestamptz '2030-01-01' + n * interval '1 second' as at,
                    ('00000000-0000-7000-8000-00000000000' || n)::uuid as id,
                    repeat('Hello there. ', case n when 1 then 100000 else 40000 end) as said) made,
    lateral (select jsonb_build_object('said', said) as json) written`
  await sql`
    insert into agents (tenant_id, id, agent_key, name, description, created_at, updated_at)
    select ${ACME}, id, 'one', 'One', '', at, at from ${rows} where n = 1`.execute(test.db)
  await sql`
    insert into agent_versions (tenant_id, id, agent_id, version_number, status, config, created_at, updated_at)
    select ${ACME}, id, (select id from agents), n, 'draft', json, at, at from ${rows}`.execute(test.db)
  await sql`
    insert into call_logs (tenant_id, id, call_sid, direction, "from", "to", status, status_at, created_at, escalated, metadata)
    select ${ACME}, id, 'CA' || n, 'outbound', 'one', 'two', 'failed', at, at, false, json from ${rows}`.execute(
    test.db,
  )
  await sql`
    insert into voice_sessions (tenant_id, id, call_sid, direction, "from", "to", call_status, audio_output_provider, created_at,
                                resumed_count, latency, usage, tags, metadata, qa)
    select ${ACME}, id, 'CA' || n, 'outbound', 'one', 'two', 'failed', 'primary', at, 0, '{}', '{}', '{}', '{}', json
      from ${rows}`.execute(test.db)
  await sql`
    insert into evaluations (tenant_id, id, session_id, session_ended_at, source, score, criteria, created_at)
    select ${ACME}, id, id, at, 'human', 1, jsonb_build_array(json), at from ${rows}`.execute(test.db)
  await sql`
    insert into callback_tasks (tenant_id, id, customer_phone, status, priority, queue_key, metadata, sla_due_at,
                                dispatch_attempt_count, created_at, updated_at)
    select ${ACME}, id, '+12025550101', 'open', 'normal', 'default', json, at, 0, at, at from ${rows}`.execute(test.db)
  await sql`
    insert into callback_task_changes (tenant_id, id, task_id, action, status, operator, note, details, created_at)
    select ${ACME}, id, ${TASK}, 'edit', 'open', null, null, json, at from ${rows}`.execute(test.db)
  await sql`
    insert into supervisor_actions (tenant_id, id, stream_sid, call_sid, action, metadata, created_at)
    select ${ACME}, id, 'MZ1', 'CA1', 'note', json, at from ${rows}`.execute(test.db)
  await sql`
    insert into campaigns (tenant_id, id, name, agent_key, status, calls_per_second, max_concurrent, max_attempts, retry_minutes,
                           next_dial_at, created_at, updated_at)
    select ${ACME}, ${CAMPAIGN}, 'one', 'one', 'draft', 1, 1, 1, '{}', at, at, at from ${rows} where n = 1`.execute(
    test.db,
  )
  await sql`
    insert into campaign_contacts (tenant_id, id, campaign_id, position, phone, metadata, status, attempts, due_at, created_at,
                                   updated_at)
    select ${ACME}, id, ${CAMPAIGN}, n, '+1202555010' || n, json, 'pending', 0, at, at, at from ${rows}`.execute(
    test.db,
  )
  await sql`
    insert into prompts (prompt_key, id, text, description, created_at, updated_at)
    select 'one' || n, id, said, '', at, at from ${rows}`.execute(test.db)
  await sql`
    insert into access_requests (id, status, company_name, contact_name, work_email, use_case, phone, role, timeline, website,
                                 expected_monthly_minutes, source, remote_addr, user_agent, metadata, created_at)
    select id, 'open', '', '', '', said, '', '', '', '', '', '', '', '', '{}', at from ${rows}`.execute(test.db)
  // Half of it before, half after: together they are too long.
  await sql`
    insert into audit_log (id, actor_kind, actor, action, before, after, created_at)
    select id, 'system', 'one', 'one', to_jsonb(left(said, length(said) / 2)), to_jsonb(left(said, length(said) / 2)), at
      from ${rows}`.execute(test.db)
  await sql`
    insert into tenants (tenant_id, document, etag, created_at, updated_at)
    select 'tenant' || n, json, '', at, at from ${rows}`.execute(test.db)
}

async function ofJson(page: Promise<JsonPage>): Promise<Page<unknown>> {
  const { json, count, nextCursor } = await page
  const rows: unknown[] = JSON.parse(json)
  expect(rows).toHaveLength(count)
  return { rows, nextCursor }
}

async function ofRows<Row>(
  page: Promise<FittingRows<Row>>,
  position: (row: Row) => [at: Date, id: string],
): Promise<Page<unknown>> {
  const { rows, limit } = await page
  return toPage(rows, limit, (row) => {
    const [createdAt, id] = position(row)
    return { createdAt, id }
  })
}

type Made = { created_at: Date; id: string }
const made = ({ created_at, id }: Made): [Date, string] => [created_at, id]

const LISTS: [name: string, list: (page: PageRequest) => Promise<Page<unknown>>][] = [
  ['call logs', (page) => ofJson(makeCallLogs({ db: test.db }).list(ACME, {}, page))],
  ['voice sessions', (page) => ofJson(makeVoiceSessions({ db: test.db }).list(ACME, {}, page))],
  ['evaluations', (page) => ofRows(listEvaluations(test.db, ACME, {}, page), made)],
  ['agent versions', (page) => makeAgentVersions({ db: test.db, clock: new TestClock() }).list(ACME, null, page)],
  ['callback tasks', (page) => ofRows(listCallbackTasksAcrossTenants(test.db, {}, page), made)],
  ['the history of a task', (page) => ofRows(listTaskChanges(test.db, ACME, TASK, page), made)],
  ['supervisor actions', (page) => ofRows(listSupervisorActions(test.db, {}, page), made)],
  ['contacts', (page) => ofRows(listContacts(test.db, ACME, { campaignId: CAMPAIGN, status: null }, page), made)],
  ['prompts', (page) => ofRows(listPrompts(test.db, page), made)],
  ['access requests', (page) => ofRows(listAccessRequests(test.db, null, page), made)],
  ['audit log', (page) => makeAuditLog({ db: test.db }).list({}, page)],
]

async function pagesOf(list: (page: PageRequest) => Promise<Page<unknown>>): Promise<unknown[][]> {
  const pages: unknown[][] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { rows, nextCursor } = await list(readPage({ limit: 500, ...(cursor !== undefined && { cursor }) }))
    pages.push(rows)
    cursor = nextCursor
  }
  return pages
}

describe('a page of long rows', () => {
  beforeEach(fill)

  it.each(LISTS)('of %s has no more than calls can go on beside, and leads on by its cursor', async (_name, list) => {
    const pages = await pagesOf(list)
    expect(pages.map((rows) => rows.length)).toEqual([2, 1, 1])
    expect(new Set(pages.flat().map((row) => JSON.stringify(row))).size).toBe(4)
    expect((await list(readPage({ limit: 2 }))).nextCursor).not.toBeNull()
    expect(await list(readPage({ limit: 0 }))).toEqual({ rows: [], nextCursor: null })
  })

  it('is the same in the order in which tasks are due', async () => {
    const due = (page: PageRequest) =>
      ofRows(listDueCallbackTasks(test.db, ACME, {}, page), (task) => [task.sla_due_at, task.id])
    expect((await pagesOf(due)).map((rows) => rows.length)).toEqual([1, 2, 1])
  })

  it('is the same of tenants, which have no ids but their own', async () => {
    const tenants = (page: PageRequest) =>
      ofRows(listTenantsAcrossTenants(test.db, page), (row) => [row.created_at, row.tenant_id])
    expect((await pagesOf(tenants)).map((rows) => rows.length)).toEqual([2, 1, 1, 1])
  })
})
