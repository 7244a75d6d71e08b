import { sql } from 'kysely'
import type { AgentVersionId, TenantId } from '../kernel/ids.ts'
import type { PageRequest } from '../kernel/pages.ts'
import { isoInstant, type JsonPage, readJsonPage } from '../platform/db/json-page.ts'
import { isAfter } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { CallDirection, CallStatus, SessionEndReason, SessionId } from './call-values.ts'
import { filterConditions, type RecordFilter } from './record-filter-store.ts'
import { searchedSessions } from './session-search-store.ts'
import type { SpentToday } from './spent-today.ts'

/** How quickly the agent spoke, in ms; null where it never did. Kept in the API's own words. */
export type StoredLatency = {
  greeting_ms: number | null
  response_p50_ms: number | null
  response_p95_ms: number | null
  interruptions: number
  /** Each answer's time, as `packTimes` writes them, to be counted over many calls. Not given where there was none. */
  response_times?: string
}

/** What the model used. Kept in the API's own words. */
export type StoredUsage = {
  input_tokens: number
  output_tokens: number
  cached_tokens: number
  audio_seconds: number
  /** A process was lost with a part of it. Not given where all of it is there. */
  is_partial?: boolean
}

/** The evaluation that counts for a session. Kept in the API's own words. */
export type StoredQa = {
  score: number
  high_quality: boolean
  summary: string | null
  criteria: { name: string; score: number; reason: string | null }[]
}

/** pending: it is still to be scored. not_scored: it has no score, and `qa_reason` says why. */
export const QA_STATUSES = ['pending', 'scored', 'not_scored'] as const

/** pending: it is still to be made. missing: it cannot be made, and `extraction_reason` says why. */
export const EXTRACTION_STATUSES = ['pending', 'filled', 'missing'] as const

/** A conversation. Its turns and function calls have tables of their own. */
export type VoiceSessionRow = {
  tenant_id: TenantId
  id: SessionId
  call_sid: string
  stream_sid: string | null
  org_id: string | null
  direction: CallDirection
  from: string
  to: string
  /** That of the call log, kept here to filter by. */
  call_status: CallStatus
  agent_key: string | null
  agent_name: string | null
  agent_version_id: AgentVersionId | null
  version_number: number | null
  /** What the session ran with; null before its stream began, and where the driver's own default was taken. */
  model: string | null
  voice: string | null
  audio_output_provider: 'primary' | 'secondary'
  created_at: Date
  /** When its stream began. */
  started_at: Date | null
  ended_at: Date | null
  duration_seconds: number | null
  end_reason: SessionEndReason | null
  /** How often a new stream went on with it. */
  resumed_count: number
  latency: StoredLatency
  usage: StoredUsage
  /** What its model cost, in USD; null where no price is known. */
  cost_usd: number | null
  /** What the tenant's other calls had taken of its day when it began; null where its document bounded neither. */
  day_spent: SpentToday | null
  /** How long the call may last, by the agent that it began with; null where that is not known. */
  max_call_seconds: number | null
  tags: string[]
  outcome: string | null
  outcome_notes: string | null
  has_recording: boolean
  metadata: Record<string, unknown>
  /** Said first in place of the agent's own; null for that. */
  greeting: string | null
  /** Null while nobody has said how good it was. */
  qa: StoredQa | null
  /** Null before its end. */
  qa_status: (typeof QA_STATUSES)[number] | null
  /** Why it has no score, in a sentence. */
  qa_reason: string | null
  /** What the conversation was about; null while nobody has said so. */
  summary: string | null
  /** What its agent version wants taken from it, which fits the schema of that. */
  extraction: Record<string, unknown> | null
  /** Null where the agent version wants nothing taken from it. */
  extraction_status: (typeof EXTRACTION_STATUSES)[number] | null
  extraction_reason: string | null
  /** It has ended, and its tenant is not told so yet: the extraction is waited for. */
  completion_held: boolean
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    voice_sessions: VoiceSessionRow
  }
}

/** What sessions can be looked for by, beside what their calls can be. */
export type SessionFilter = RecordFilter & {
  tag?: string | undefined
  endReason?: SessionEndReason | undefined
  /** Each of these was said, somewhere in the conversation; several words are a phrase. */
  phrases?: string[] | undefined
}

export async function insertVoiceSession(
  tx: Tx,
  tenantId: TenantId,
  session: Omit<VoiceSessionRow, 'tenant_id'>,
): Promise<void> {
  await tx
    .insertInto('voice_sessions')
    .values({ ...session, tenant_id: tenantId })
    .execute()
}

export async function findVoiceSession(db: Db, tenantId: TenantId, id: SessionId): Promise<VoiceSessionRow | null> {
  const row = await db
    .selectFrom('voice_sessions')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row ?? null
}

/** Changes a session. To be called with `lockCall`. */
export async function updateVoiceSession(
  tx: Tx,
  tenantId: TenantId,
  id: SessionId,
  changes: Partial<VoiceSessionRow>,
): Promise<void> {
  await tx.updateTable('voice_sessions').set(changes).where('tenant_id', '=', tenantId).where('id', '=', id).execute()
}

export type HeldCompletion = { tenant_id: TenantId; call_sid: string; id: SessionId; ended_at: Date }

/** Sessions that ended before an instant and whose tenants were not told so yet, oldest first: behind `after`, at most `limit`. */
export async function listHeldCompletionsAcrossTenants(
  db: Db,
  { before, after, limit }: { before: Date; after: HeldCompletion | null; limit: number },
): Promise<HeldCompletion[]> {
  const { rows } = await sql<HeldCompletion>`
    select tenant_id, call_sid, id, ended_at from voice_sessions
     where completion_held = true and ended_at < ${before}
       ${after ? sql`and (ended_at, id) > (${after.ended_at}, ${after.id})` : sql``}
     order by ended_at, id limit ${limit}`.execute(db)
  return rows
}

/** Deletes a session and all that is stored of it. To be called with `lockCall`. */
export async function deleteVoiceSession(tx: Tx, tenantId: TenantId, id: SessionId): Promise<void> {
  await tx.deleteFrom('voice_sessions').where('tenant_id', '=', tenantId).where('id', '=', id).execute()
}

/** A page of the tenant's sessions, newest first, as the API shows them in lists. */
export function listVoiceSessions(
  db: Db,
  tenantId: TenantId,
  filter: SessionFilter,
  page: PageRequest,
): Promise<JsonPage> {
  const conditions = [
    sql`tenant_id = ${tenantId}`,
    ...filterConditions('voice_sessions', filter, 'call_status'),
    ...sessionConditions(filter),
    isAfter('voice_sessions', page.after),
  ]
  const where = sql.join(conditions, sql` and `)
  const { phrases = [] } = filter
  const list = { table: 'voice_sessions', where, shown: SHOWN, long: LONG }
  if (phrases.length === 0) return readJsonPage(db, list, page)
  const found = searchedSessions({ tenantId, phrases, where, limit: page.offset + page.limit + 1 })
  const isFound = sql`tenant_id = ${tenantId} and id in (${found})`
  // How a search goes through what it is given does not depend on the words; how a filter is best asked does on its values.
  const hasWordsAlone = Object.values(filter).every((value) => value === undefined || value === phrases)
  const isPrepared = hasWordsAlone && phrases.length <= PREPARED_PHRASES
  return readJsonPage(db, { ...list, where: isFound, isPrepared }, page)
}

/** Searches for more are rare, and each number of them is a statement of its own. */
const PREPARED_PHRASES = 2

const AS_STORED = [
  ...[
    'id',
    'tenant_id',
    'org_id',
    'call_sid',
    'stream_sid',
    'direction',
    'agent_key',
    'agent_name',
    'agent_version_id',
  ],
  ...['version_number', 'model', 'voice', 'audio_output_provider', 'duration_seconds', 'end_reason', 'resumed_count'],
  ...['cost_usd', 'tags', 'outcome', 'outcome_notes', 'qa', 'qa_status', 'qa_reason', 'summary', 'extraction'],
  ...['extraction_status', 'extraction_reason', 'metadata'],
]

const LONG = ['tags', 'outcome', 'outcome_notes', 'qa', 'summary', 'extraction', 'metadata']

/** `showSession` for the database. */
const SHOWN = {
  ...Object.fromEntries(AS_STORED.map((name) => [name, sql.ref(`voice_sessions.${name}`)])),
  started_at: isoInstant('voice_sessions.started_at'),
  ended_at: isoInstant('voice_sessions.ended_at'),
  latency: sql`voice_sessions.latency - 'response_times'`,
  usage: sql`voice_sessions.usage - 'is_partial'`,
  recording_url: sql`case when has_recording then '/api/v1/voice-sessions/' || voice_sessions.id || '/recording' end`,
}

function sessionConditions({ tag, endReason }: SessionFilter) {
  return [
    ...(tag === undefined ? [] : [sql<boolean>`voice_sessions.tags @> array[${tag}]::text[]`]),
    ...(endReason === undefined ? [] : [sql<boolean>`voice_sessions.end_reason = ${endReason}`]),
  ]
}

/** An agent that repeats itself must not make a row grow for as long as its call lasts. */
const MAX_TAGS = 50

/** What is said of a session when its outcome is recorded. */
export type OutcomeChange = { tags: string[]; outcome: string | null; notes: string | null }

/**
 * Adds tags to the session's, each once, until it has 50, and replaces its outcome and notes by those that are given (null keeps them).
 *
 * @returns all its tags, in their order; null when the tenant has no such session.
 */
export async function addOutcome(
  db: Db,
  tenantId: TenantId,
  id: SessionId,
  { tags, outcome, notes }: OutcomeChange,
): Promise<string[] | null> {
  const row = await db
    .updateTable('voice_sessions')
    .set((eb) => ({
      tags: sql<string[]>`
        array(select tag
                from unnest(tags || array(select distinct added
                                            from unnest(${tags}::text[]) as added
                                           where added <> all (tags)
                                           order by added
                                           limit greatest(0, ${MAX_TAGS}::integer - cardinality(tags)))) as tag
               order by tag)`,
      outcome: eb.fn.coalesce(sql<string | null>`${outcome}`, 'outcome'),
      outcome_notes: eb.fn.coalesce(sql<string | null>`${notes}`, 'outcome_notes'),
    }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning('tags')
    .executeTakeFirst()
  return row?.tags ?? null
}
