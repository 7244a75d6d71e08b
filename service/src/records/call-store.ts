import { type RawBuilder, sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import { prepared } from '../platform/db/prepared.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { type DirectoryRow, FIRST_EPOCH, lockCall } from './call-directory-store.ts'
import type { CallLogRow } from './call-log-store.ts'
import type { CallRecord } from './call-record.ts'
import { lookSet } from './open-call-store.ts'
import { storable } from './storable.ts'
import type { VoiceSessionRow } from './voice-session-store.ts'

/**
 * A call as a whole: its row of the directory, its log and its session. To enter it, to lock it and to change it is one statement each. A call that nobody answers
 * is entered, looked up and ended all the same, and each further statement costs as much as a tenth of a second of talk.
 */

type Names<Row> = Record<keyof Row, true>

const LOG_COLUMNS = Object.keys({
  ...{ tenant_id: true, id: true, call_sid: true, org_id: true, direction: true, from: true, to: true, status: true },
  ...{ status_at: true, agent_key: true, agent_name: true, agent_version_id: true, version_number: true },
  ...{ stream_sid: true, voice_session_id: true, callback_task_id: true, campaign_id: true, placed_by: true },
  ...{ canceled_by: true, created_at: true },
  ...{ started_at: true, answered_at: true, ended_at: true, duration_seconds: true, answered_by: true },
  ...{ answered_by_source: true, escalated: true, escalation_target: true, summary: true, error_code: true },
  ...{ error_message: true, cost_usd: true, metadata: true },
} satisfies Names<CallLogRow>)

const SESSION_COLUMNS = Object.keys({
  ...{
    tenant_id: true,
    id: true,
    call_sid: true,
    stream_sid: true,
    org_id: true,
    direction: true,
    from: true,
    to: true,
  },
  ...{ call_status: true, agent_key: true, agent_name: true, agent_version_id: true, version_number: true },
  ...{ model: true, voice: true, audio_output_provider: true, created_at: true, started_at: true, ended_at: true },
  ...{ duration_seconds: true, end_reason: true, resumed_count: true, latency: true, usage: true, cost_usd: true },
  ...{
    day_spent: true,
    max_call_seconds: true,
    tags: true,
    outcome: true,
    outcome_notes: true,
    has_recording: true,
    metadata: true,
  },
  ...{ greeting: true, qa: true, qa_status: true, qa_reason: true, summary: true, extraction: true },
  ...{ extraction_status: true, extraction_reason: true, completion_held: true },
} satisfies Names<VoiceSessionRow>)

/** A call that is to be entered. `lookAt`: when it must have begun. */
export type EnteredCall = { record: CallRecord; lookAt: Date }

const ENTERED = {
  log: sql.raw(`
    insert into call_logs (${listed(LOG_COLUMNS)})
    select ${listed(LOG_COLUMNS, 'made')} from entered`),
  session: sql.raw(`
    insert into voice_sessions (${listed(SESSION_COLUMNS)})
    select ${listed(SESSION_COLUMNS, 'made')} from entered`),
}

/**
 * Enters a call with its log and its session, and holds its tenant meanwhile. Of several at once the others wait for the first.
 *
 * @returns null, and nothing is written, when the call is known already, or the tenant is not.
 */
export async function insertCall(
  db: Db,
  { record: { log, session }, lookAt }: EnteredCall,
): Promise<DirectoryRow | null> {
  const statement = sql<DirectoryRow>`
    with held as (
      select tenant_id from tenants where tenant_id = ${session.tenant_id} and deleted_at is null for key share),
    entered as (
      insert into call_directory (call_sid, tenant_id, session_id, owner, epoch, look_at)
      select ${session.call_sid}, tenant_id, ${session.id}::uuid, null, ${FIRST_EPOCH}::integer, ${lookAt}::timestamptz from held
          on conflict (call_sid) do nothing
      returning *),
    log as (${ENTERED.log}, json_populate_record(null::call_logs, ${jsonOf(log)}::json) made),
    session as (${ENTERED.session}, json_populate_record(null::voice_sessions, ${jsonOf(session)}::json) made)
    select call_sid, tenant_id, session_id, owner, epoch from entered`
  const { rows } = await prepared('call', statement).execute(db)
  return rows[0] ?? null
}

/** A call that this transaction alone may change until it ends, and what is stored of it. */
export type LockedCall = { call: DirectoryRow; before: CallRecord }

/**
 * `lockCall`, and the call as it is from then on; null when the tenant has no such call. All of its rows are locked, in this order:
 * what was waited for is read as whoever had it has left it, and not as it was when the statement began.
 *
 * @throws Error when half of it is missing: all of it is written in one transaction.
 */
export async function lockRecord(tx: Tx, tenantId: TenantId, callSid: string): Promise<LockedCall | null> {
  const found = await readLocked(tx, tenantId, callSid)
  if (found) return found
  // Whoever was waited for may have taken the call out of the directory and entered it anew, as that of another dial.
  if (!(await lockCall(tx, tenantId, callSid))) return null
  const entered = await readLocked(tx, tenantId, callSid)
  if (!entered) throw new Error('a call of the directory has no log or no session')
  return entered
}

type Found = DirectoryRow & { log: unknown; session: unknown }

async function readLocked(tx: Tx, tenantId: TenantId, callSid: string): Promise<LockedCall | null> {
  const statement = sql<Found>`
    select entry.call_sid, entry.tenant_id, entry.session_id, entry.owner, entry.epoch,
           row_to_json(log) as log, row_to_json(session) as session
      from tenants
      join call_directory entry on entry.tenant_id = tenants.tenant_id
      join call_logs log on log.tenant_id = entry.tenant_id and log.call_sid = entry.call_sid
      join voice_sessions session on session.tenant_id = entry.tenant_id and session.id = entry.session_id
     where tenants.tenant_id = ${tenantId} and entry.call_sid = ${callSid}
       for key share of tenants for no key update of entry, log, session`
  const { rows } = await prepared('call', statement).execute(tx)
  const [found] = rows
  if (!found) return null
  const { log, session, ...call } = found
  return { call, before: { log: readLog(log as AsJson<CallLogRow>), session: readSession(session as AsSession) } }
}

/** What becomes of a call. `look`: when it is looked after next, null for never again; not given where that stays as it is. */
type RecordChanges = {
  log: Partial<CallLogRow> | null
  session: Partial<VoiceSessionRow> | null
  look: { at: Date | null } | null
}

/** Changes a call, and says when to look after it next. To be called with `lockRecord`; `of` is the call before. */
export async function updateRecord(tx: Tx, of: CallRecord, { log, session, look }: RecordChanges): Promise<void> {
  const { tenant_id: tenantId, call_sid: callSid } = of.session
  const parts = [
    ...(log ? [setTo('call_logs', log, { tenantId, id: of.log.id })] : []),
    ...(session ? [setTo('voice_sessions', session, { tenantId, id: of.session.id })] : []),
    ...(look ? [lookSet(tenantId, callSid, look.at)] : []),
  ]
  const last = parts.pop()
  if (!last) return
  const first = parts.map((part, i) => sql`${sql.raw(`part${i}`)} as (${part})`)
  await prepared('change', first.length === 0 ? last : sql`with ${sql.join(first)} ${last}`).execute(tx)
}

function setTo(
  table: 'call_logs' | 'voice_sessions',
  changes: object,
  { tenantId, id }: { tenantId: TenantId; id: string },
): RawBuilder<unknown> {
  const names = listed(Object.keys(changes))
  return sql`
    update ${sql.raw(`"${table}" set (${names}) = (select ${names} from json_populate_record(null::${table}`)}, ${jsonOf(changes)}::json))
     where tenant_id = ${tenantId} and id = ${id}`
}

function listed(columns: string[], table?: string): string {
  const prefix = table === undefined ? '' : `${table}.`
  return columns.map((name) => `${prefix}"${name}"`).join(', ')
}

/**
 * As a column can hold it: what a model wrote may have in it what no text of the database can.
 *
 * @throws RangeError for an instant or a number that is none: JSON has null for both.
 */
function jsonOf(row: object): string {
  for (const value of Object.values(row)) if (value instanceof Date) value.toISOString()
  return JSON.stringify(row, (name, value: unknown) => {
    if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError(`${name}: ${value} cannot be stored`)
    return typeof value === 'string' ? storable(value) : value
  })
}

/** A row as its JSON has it: instants are text. */
type AsJson<Row> = { [Name in keyof Row]: Date extends Row[Name] ? Exclude<Row[Name], Date> | string : Row[Name] }
type AsSession = AsJson<VoiceSessionRow>

function readLog(row: AsJson<CallLogRow>): CallLogRow {
  const { status_at, created_at, started_at, answered_at, ended_at } = row
  return {
    ...row,
    ...{ status_at: new Date(status_at), created_at: new Date(created_at), started_at: instantOf(started_at) },
    ...{ answered_at: instantOf(answered_at), ended_at: instantOf(ended_at) },
  }
}

function readSession(row: AsSession): VoiceSessionRow {
  const { created_at, started_at, ended_at } = row
  return {
    ...row,
    ...{ created_at: new Date(created_at), started_at: instantOf(started_at), ended_at: instantOf(ended_at) },
  }
}

function instantOf(text: string | null): Date | null {
  return text === null ? null : new Date(text)
}
