import { sql } from 'kysely'
import type { AgentVersionId, TenantId } from '../kernel/ids.ts'
import type { PageRequest } from '../kernel/pages.ts'
import { isoInstant, type JsonPage, readJsonPage } from '../platform/db/json-page.ts'
import { isAfter } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { AnsweredBySource } from './answered-by.ts'
import type { CallDirection, CallStatus, SessionId } from './call-values.ts'
import { filterConditions, type RecordFilter } from './record-filter-store.ts'

/** What is known of a call, from its first sign to long after its end. */
export type CallLogRow = {
  tenant_id: TenantId
  id: string
  /** Null while the carrier has not said that it took the call. */
  call_sid: string | null
  org_id: string | null
  direction: CallDirection
  /** A number by its one spelling; what is none as the carrier sent it: `anonymous` and `sip:…` occur. */
  from: string
  to: string
  status: CallStatus
  /** When the call came to have this status, as far as known. */
  status_at: Date
  agent_key: string | null
  agent_name: string | null
  agent_version_id: AgentVersionId | null
  version_number: number | null
  stream_sid: string | null
  voice_session_id: SessionId | null
  callback_task_id: string | null
  campaign_id: string | null
  /** The person who asked for it; null for a key, for the service itself, and for a call that came in. */
  placed_by: string | null
  /** The person who asked for it to be given up while it rang. It may have been answered just then. */
  canceled_by: string | null
  created_at: Date
  started_at: Date | null
  answered_at: Date | null
  ended_at: Date | null
  /** What the carrier says; without its word the instants tell. */
  duration_seconds: number | null
  answered_by: string | null
  /** Who says so; null of what was told before that was noted, and of nothing. */
  answered_by_source: AnsweredBySource | null
  escalated: boolean
  escalation_target: string | null
  summary: string | null
  error_code: string | null
  error_message: string | null
  /** What the model of its session cost, in USD, once that has ended; null where no price is known. */
  cost_usd: number | null
  metadata: Record<string, unknown>
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    call_logs: CallLogRow
  }
}

export async function insertCallLog(tx: Tx, tenantId: TenantId, log: Omit<CallLogRow, 'tenant_id'>): Promise<void> {
  await tx
    .insertInto('call_logs')
    .values({ ...log, tenant_id: tenantId })
    .execute()
}

/** The tenant's log entry of this call, or null. */
export async function findCallLog(db: Db, tenantId: TenantId, callSid: string): Promise<CallLogRow | null> {
  const row = await db
    .selectFrom('call_logs')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('call_sid', '=', callSid)
    .executeTakeFirst()
  return row ?? null
}

/** The tenant's log entry by its own id: a call that no carrier has taken has no other. Null when there is none. */
export async function findCallLogById(db: Db, tenantId: TenantId, id: string): Promise<CallLogRow | null> {
  const row = await db
    .selectFrom('call_logs')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row ?? null
}

/** Keeps a log entry from being changed until the transaction ends; false when its status is another one by now. */
export async function holdCallLogAs(tx: Tx, tenantId: TenantId, id: string, status: CallStatus): Promise<boolean> {
  const row = await tx
    .selectFrom('call_logs')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('status', '=', status)
    .forShare()
    .executeTakeFirst()
  return row !== undefined
}

/** Changes a log entry. To be called with `lockCall`. */
export async function updateCallLog(
  tx: Tx,
  tenantId: TenantId,
  id: string,
  changes: Partial<CallLogRow>,
): Promise<void> {
  await tx.updateTable('call_logs').set(changes).where('tenant_id', '=', tenantId).where('id', '=', id).execute()
}

/**
 * Writes down which person, if any, asks for a call to be cancelled: the first one stands, until it is known whose request the carrier
 * has taken (`isTaken`). Of a call that is over it stays as it is.
 */
export async function noteCanceler(
  db: Db,
  tenantId: TenantId,
  id: string,
  { by, isTaken }: { by: string | null; isTaken: boolean },
): Promise<void> {
  await db
    .updateTable('call_logs')
    .set({ canceled_by: by })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .where('canceled_by', 'is distinct from', by)
    .$if(!isTaken, (query) => query.where('canceled_by', 'is', null))
    .execute()
}

/** What calls can be looked for by. What is undefined is not asked. */
export type CallFilter = RecordFilter & {
  /** A uuid. */
  campaignId?: string | undefined
}

/** A page of the tenant's calls, newest first, as the API shows them. */
export function listCallLogs(db: Db, tenantId: TenantId, filter: CallFilter, page: PageRequest): Promise<JsonPage> {
  const conditions = [
    sql`tenant_id = ${tenantId}`,
    ...filterConditions('call_logs', filter, 'status'),
    ...(filter.campaignId === undefined ? [] : [sql`campaign_id = ${filter.campaignId}`]),
    isAfter('call_logs', page.after),
  ]
  const list = { table: 'call_logs', where: sql.join(conditions, sql` and `), shown: SHOWN, long: LONG }
  return readJsonPage(db, list, page)
}

const AS_STORED = [
  ...['call_sid', 'tenant_id', 'org_id', 'direction', 'from', 'to', 'status', 'agent_key', 'agent_name'],
  ...['agent_version_id', 'version_number', 'stream_sid', 'voice_session_id', 'callback_task_id', 'campaign_id'],
  'placed_by',
  ...[
    'answered_by',
    'answered_by_source',
    'escalated',
    'escalation_target',
    'summary',
    'error_code',
    'error_message',
    'cost_usd',
    'metadata',
  ],
]
const LONG = ['summary', 'error_message', 'metadata']
const INSTANTS = ['created_at', 'started_at', 'answered_at', 'ended_at']

/** `durationSeconds` and `showCallLog` for the database. */
const SHOWN = {
  ...Object.fromEntries(AS_STORED.map((name) => [name, sql.ref(`call_logs.${name}`)])),
  ...Object.fromEntries(INSTANTS.map((name) => [name, isoInstant(`call_logs.${name}`)])),
  canceled_by: sql`case when call_logs.status = 'canceled' then call_logs.canceled_by end`,
  duration_seconds: sql`
    case when ended_at is null then null
         when duration_seconds is not null then duration_seconds
         when answered_at is null then 0
         else greatest(0, round(extract(epoch from ended_at - answered_at)))::int end`,
}
