import { type RawBuilder, sql } from 'kysely'
import type { AgentVersionId, TenantId } from '../../kernel/ids.ts'
import type { Db } from '../../platform/db/schema.ts'

/** What each row of an answer is about, beside its span. */
export type Grouping = 'tenant' | 'agent' | 'version'

/** Whose calls, and how they are told apart. */
export type FigureAsk = {
  /** Null: all tenants', counted together or by tenant. */
  tenantId: TenantId | null
  /** Undefined: any. */
  agentKey?: string | undefined
  agentVersionId?: AgentVersionId | undefined
  groupBy: Grouping | null
  /** Each begins a span, which ends before the next one. */
  edges: Date[]
  /** At most so many rows, and one more to tell that there are. */
  limit: number
}

/** What a row is about; undefined is what it was not told apart by. */
export type FigureKey = {
  /** Which span, from 1. */
  span: number
  tenant_id?: TenantId
  agent_key?: string | null
  agent_version_id?: AgentVersionId | null
  version_number?: number | null
}

/** What the calls of a span came to. */
export type FigureRow = FigureKey & {
  calls: number
  answered: number
  completed: number
  busy: number
  failed: number
  no_answer: number
  canceled: number
  escalated: number
  talk_seconds: number
  /** Calls whose cost is known, and what those cost. */
  costed: number
  cost_usd: number
  interruptions: number
  scored: number
  high_quality: number
  /** The sum of the scores in ten-thousandths, as they are kept: whole, so that it is the same in any order. */
  score_sum: number
  /** As `readTimes` takes it. */
  response_times: string | null
}

/** How many calls came to an outcome; null: to any of the rare ones. */
export type OutcomeRow = FigureKey & { outcome: string | null; calls: number }

/** As many are told apart in an answer. */
const OUTCOMES_SHOWN = 10

/** A score has four decimals at most. */
export const SCORE_PARTS = 10_000

const SUMMED = [
  ...(['calls', 'answered', 'completed', 'busy', 'failed', 'no_answer', 'canceled', 'escalated'] as const),
  ...(['talk_seconds', 'costed', 'cost_usd', 'interruptions', 'scored', 'high_quality'] as const),
]

const GROUP_COLUMNS: Record<Grouping, string[]> = {
  tenant: ['tenant_id'],
  agent: ['agent_key'],
  version: ['agent_key', 'agent_version_id'],
}

/** The figures of each span that has any, in the order of the spans. */
export async function listFigures(db: Db, ask: FigureAsk): Promise<FigureRow[]> {
  const names = columnsOf(ask)
  const version = ask.groupBy === 'version' ? sql`max(version_number) as version_number,` : sql``
  const { rows } = await sql<FigureRow>`
    select ${spanOf(ask)} as span, ${list(names)} ${version}
           ${sql.join(SUMMED.map((name) => sql`sum(${sql.ref(name)})::float8 as ${sql.ref(name)}`))},
           (sum(score_sum) * ${sql.lit(SCORE_PARTS)})::float8 as score_sum, sum(response_times)::text as response_times
      from call_rollups
     where ${conditions(ask)}
     group by ${list(names)} span
     order by span ${orderBy(names)}
     limit ${ask.limit + 1}`.execute(db)
  return rows
}

/**
 * The outcomes of each span that has any, those that occur most and the sum of all others: `OUTCOMES_SHOWN` and one row at most of
 * each span and what it is told apart by.
 */
export async function listOutcomes(db: Db, ask: FigureAsk): Promise<OutcomeRow[]> {
  const names = columnsOf(ask)
  const { rows } = await sql<OutcomeRow>`
    ${countedOutcomes(ask, [sql`${spanOf(ask)} as span`, ...names.map((name) => sql.ref(name))], ['span', ...names])}
     limit ${(ask.limit + 1) * (OUTCOMES_SHOWN + 1)}`.execute(db)
  return rows
}

/** The outcomes of all spans together, whatever they are told apart by, as `listOutcomes` has those of one. */
export async function sumOutcomes(db: Db, ask: FigureAsk): Promise<Omit<OutcomeRow, keyof FigureKey>[]> {
  const { rows } = await sql<OutcomeRow>`${countedOutcomes(ask, [], [])}`.execute(db)
  return rows
}

/** Each once by `names`, which are what `columns` are called. */
function countedOutcomes(ask: FigureAsk, columns: RawBuilder<unknown>[], names: string[]) {
  const selected = columns.map((column) => sql`${column}, `)
  const shown = sql`case when is_shown then outcome end`
  return sql`
    with counted as (
      select ${sql.join(selected, sql``)} outcome, sum(calls) as calls
        from call_outcome_rollups
       where ${conditions(ask)}
       group by ${list(names)} outcome),
    ranked as (
      select *, outcome is not null and row_number() over (${partitionBy(names)}
                  order by outcome is null, calls desc, outcome collate "C") <= ${sql.lit(OUTCOMES_SHOWN)} as is_shown
        from counted)
    select ${list(names)} ${shown} as outcome, sum(calls)::float8 as calls
      from ranked
     group by ${list(names)} ${shown}
     order by ${list(names)} calls desc`
}

const columnsOf = ({ groupBy }: FigureAsk) => (groupBy === null ? [] : GROUP_COLUMNS[groupBy])
const list = (names: string[]) =>
  sql.join(
    names.map((name) => sql`${sql.ref(name)}, `),
    sql``,
  )
const partitionBy = (names: string[]) =>
  names.length === 0 ? sql`` : sql`partition by ${sql.join(names.map((name) => sql.ref(name)))}`
const orderBy = (names: string[]) =>
  sql.join(
    names.map((name) => sql`, ${sql.ref(name)}`),
    sql``,
  )

function spanOf({ edges }: FigureAsk) {
  return sql`width_bucket(starts_at, ${edges.map((edge) => edge.toISOString())}::timestamptz[])`
}

const HOUR_MS = 3_600_000

function conditions({ tenantId, agentKey, agentVersionId, groupBy, edges }: FigureAsk) {
  const isWhole = agentKey === undefined && agentVersionId === undefined && (groupBy === null || groupBy === 'tenant')
  // The longest spans of which all that are asked for can be made.
  const minutes = edges.every((edge) => edge.getTime() % HOUR_MS === 0) ? 60 : 15
  return sql.join(
    [
      sql`minutes = ${sql.lit(minutes)} and ${isWhole ? sql`is_whole` : sql`not is_whole`}`,
      sql`starts_at >= ${edges[0]} and starts_at < ${edges.at(-1)}`,
      ...(tenantId === null ? [] : [sql`tenant_id = ${tenantId}`]),
      ...(agentKey === undefined ? [] : [sql`agent_key = ${agentKey}`]),
      ...(agentVersionId === undefined ? [] : [sql`agent_version_id = ${agentVersionId}`]),
    ],
    sql` and `,
  )
}
