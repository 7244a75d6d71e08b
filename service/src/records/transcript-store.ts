import { type ColumnType, sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { SessionId, ToolStatus, TurnRole } from './call-values.ts'
import type { StoredTimeline } from './turn-timeline.ts'

/** One finished piece of a conversation. Times are ms since the session's start. */
export type TurnRow = {
  tenant_id: TenantId
  session_id: SessionId
  item_id: string
  seq: number
  role: TurnRole
  /** The agent that has said it, by its name at that time; null of others, and where that was not kept. */
  agent_name: string | null
  /** What was heard of it. */
  text: string
  /** What was generated of it and never heard. */
  unheard: string
  start_ms: number
  end_ms: number
  interrupted: boolean
  /** Null for what was not audio of ours. */
  sent_ms: number | null
  heard_ms: number | null
  /** What it cost to say, in USD; null where that is not known. */
  cost_usd: number | null
  /** Of an answer to the caller: how it came about. */
  timeline: StoredTimeline | null
}

/** What stands for the answer of a tool that has begun and has not answered: it says something in any case. */
export const NOT_ANSWERED = ''

/** A tool that the model called. */
export type FunctionCallRow = {
  tenant_id: TenantId
  session_id: SessionId
  call_id: string
  seq: number
  name: string
  /** As the model wrote them: JSON as a rule. */
  arguments: string
  /** As the model was told; `NOT_ANSWERED` until it was, with the status `timeout`. */
  result: string
  status: ToolStatus
  start_ms: number
  duration_ms: number
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    transcript_turns: TurnRow & { search: ColumnType<string, never, never> }
    function_calls: FunctionCallRow
  }
}

/** What names a turn. */
export type TurnKey = Pick<TurnRow, 'tenant_id' | 'session_id' | 'item_id'>

/** A turn that was written, and under which number. */
export type WrittenTurn = TurnKey & Pick<TurnRow, 'seq'>

/** More than a call of four hours holds. */
const MAX_ROWS = 10_000

/**
 * Writes turns, each in place of an earlier one of its item. Returns those that were not stored like this already.
 *
 * One parameter for all of them: this is written four times a second, and a statement of a parameter for each value takes far longer
 * to put together than to send.
 */
export async function putTurnsAcrossTenants(tx: Tx, turns: TurnRow[]): Promise<WrittenTurn[]> {
  if (turns.length === 0) return []
  const { rows } = await sql<WrittenTurn>`
    insert into transcript_turns (tenant_id, session_id, item_id, seq, role, text, unheard, start_ms, end_ms, interrupted,
                                  sent_ms, heard_ms, cost_usd, timeline, agent_name)
    select tenant_id, session_id, item_id, seq, role, text, unheard, start_ms, end_ms, interrupted,
           sent_ms, heard_ms, cost_usd, timeline, agent_name
      from jsonb_to_recordset(${JSON.stringify(turns)}::jsonb)
        as turn (tenant_id text, session_id uuid, item_id text, seq integer, role text, text text, unheard text,
                 start_ms integer, end_ms integer, interrupted boolean, sent_ms integer, heard_ms integer,
                 cost_usd double precision, timeline jsonb, agent_name text)
    on conflict (tenant_id, session_id, item_id) do update
       set seq = excluded.seq, role = excluded.role, text = excluded.text, unheard = excluded.unheard,
           start_ms = excluded.start_ms, end_ms = excluded.end_ms, interrupted = excluded.interrupted,
           sent_ms = excluded.sent_ms, heard_ms = excluded.heard_ms, cost_usd = excluded.cost_usd,
           timeline = excluded.timeline, agent_name = excluded.agent_name
     where (transcript_turns.seq, transcript_turns.role, transcript_turns.text, transcript_turns.unheard,
            transcript_turns.start_ms, transcript_turns.end_ms, transcript_turns.interrupted,
            transcript_turns.sent_ms, transcript_turns.heard_ms, transcript_turns.cost_usd,
            transcript_turns.timeline, transcript_turns.agent_name)
           is distinct from
           (excluded.seq, excluded.role, excluded.text, excluded.unheard, excluded.start_ms, excluded.end_ms,
            excluded.interrupted, excluded.sent_ms, excluded.heard_ms, excluded.cost_usd, excluded.timeline,
            excluded.agent_name)
    returning tenant_id, session_id, item_id, seq`.execute(tx)
  return rows
}

/**
 * Writes turns whose items are not stored yet, each with the number of the stored turn before it, or of the first one where it
 * comes before all: of one number, turns stand by the time at which they began. Returns those that were written.
 */
export async function addTurnsAcrossTenants(tx: Tx, turns: TurnRow[]): Promise<WrittenTurn[]> {
  if (turns.length === 0) return []
  const placed = turns.map((turn) => ({
    ...turn,
    seq: sql<number>`coalesce(
      (select max(before.seq) from transcript_turns before
        where before.tenant_id = ${turn.tenant_id} and before.session_id = ${turn.session_id}
          and before.start_ms <= ${turn.start_ms}::integer),
      (select min(first.seq) from transcript_turns first
        where first.tenant_id = ${turn.tenant_id} and first.session_id = ${turn.session_id}),
      ${turn.seq}::integer)`,
  }))
  return tx
    .insertInto('transcript_turns')
    .values(placed)
    .onConflict((conflict) => conflict.columns(['tenant_id', 'session_id', 'item_id']).doNothing())
    .returning(['tenant_id', 'session_id', 'item_id', 'seq'])
    .execute()
}

/** Takes turns out of their conversations. */
export async function deleteTurnsAcrossTenants(tx: Tx, turns: TurnKey[]): Promise<void> {
  if (turns.length === 0) return
  await tx
    .deleteFrom('transcript_turns')
    .where((eb) =>
      eb(
        eb.refTuple('tenant_id', 'session_id', 'item_id'),
        'in',
        turns.map(({ tenant_id, session_id, item_id }) => eb.tuple(tenant_id, session_id, item_id)),
      ),
    )
    .execute()
}

/** Writes function calls, each in place of its beginning; one that is stored with its answer stays as it is. */
export async function putFunctionCallsAcrossTenants(tx: Tx, calls: FunctionCallRow[]): Promise<void> {
  if (calls.length === 0) return
  await tx
    .insertInto('function_calls')
    .values(calls)
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'session_id', 'call_id'])
        .doUpdateSet((eb) => ({
          result: eb.ref('excluded.result'),
          status: eb.ref('excluded.status'),
          duration_ms: eb.ref('excluded.duration_ms'),
        }))
        .where('function_calls.result', '=', NOT_ANSWERED),
    )
    .execute()
}

/** A session's turns in the order of the conversation; at most 10,000. */
export async function listTurns(db: Db, tenantId: TenantId, sessionId: SessionId): Promise<TurnRow[]> {
  return db
    .selectFrom('transcript_turns')
    .select(['tenant_id', 'session_id', 'item_id', 'seq', 'role', 'text', 'unheard', 'start_ms', 'end_ms'])
    .select(['interrupted', 'sent_ms', 'heard_ms', 'cost_usd', 'timeline', 'agent_name'])
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .orderBy('seq')
    .orderBy('start_ms')
    .orderBy('item_id')
    .limit(MAX_ROWS)
    .execute()
}

/** A session's function calls in the order in which they were made; at most 10,000. */
export async function listFunctionCalls(db: Db, tenantId: TenantId, sessionId: SessionId): Promise<FunctionCallRow[]> {
  return db
    .selectFrom('function_calls')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .orderBy('seq')
    .orderBy('start_ms')
    .orderBy('call_id')
    .limit(MAX_ROWS)
    .execute()
}
