import { sql } from 'kysely'
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
      from ${rollups('call_rollups', ask)}
     group by ${list(names)} span
     order by span ${orderBy(names)}
     limit ${ask.limit + 1}`.execute(db)
  return rows
}

/** Outcomes of each span and what it is told apart by; `inAll`: of all spans together, whatever they are told apart by. */
export type Outcomes = { outcomes: OutcomeRow[]; inAll: Omit<OutcomeRow, keyof FigureKey>[] }

/**
 * The outcomes of each span that has any, those that occur most and the sum of all others: `OUTCOMES_SHOWN` and one row at most of
 * each span and what it is told apart by; and the same of all together. One query has both, for both read the same rows.
 */
export async function listOutcomes(db: Db, ask: FigureAsk): Promise<Outcomes> {
  const names = ['span', ...columnsOf(ask)]
  const nothing = sql.join(
    names.map((name) => sql`null as ${sql.ref(name)}, `),
    sql``,
  )
  const { rows } = await sql<OutcomeRow & { is_of_all: boolean }>`
    with counted as materialized (
      select ${spanOf(ask)} as span, ${list(names.slice(1))} outcome, sum(calls) as calls
        from ${rollups('call_outcome_rollups', ask)}
       group by ${list(names)} outcome),
    summed as (select outcome, sum(calls) as calls from counted group by outcome)
    select true as is_of_all, ${nothing} outcome, calls from (${mostOf('summed', [])}) of_all
     union all
    select * from (
      select false, ${list(names)} outcome, calls from (${mostOf('counted', names)}) of_each
       order by ${list(names)} calls desc limit ${(ask.limit + 1) * (OUTCOMES_SHOWN + 1)}) ordered`.execute(db)
  const [outcomes, ofAll] = [false, true].map((isOfAll) => rows.filter((row) => row.is_of_all === isOfAll))
  return { outcomes: outcomes ?? [], inAll: (ofAll ?? []).map(({ outcome, calls }) => ({ outcome, calls })) }
}

/** Of the outcomes that `counted` has, the most frequent ones of each group by `names`, and all others as null. */
function mostOf(counted: string, names: string[]) {
  const shown = sql`case when is_shown then outcome end`
  return sql`
    select ${list(names)} ${shown} as outcome, sum(calls)::float8 as calls
      from (select *, outcome is not null and row_number() over (${partitionBy(names)}
                        order by outcome is null, calls desc, outcome collate "C") <= ${sql.lit(OUTCOMES_SHOWN)} as is_shown
              from ${sql.table(counted)}) ranked
     group by ${list(names)} ${shown}`
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

/**
 * The rows that are to be added up: those of hours, and of an hour in which a span ends those of its quarters. So the days of a
 * zone of half hours read a few rows more than others, and not four times as many.
 */
function rollups(table: 'call_rollups' | 'call_outcome_rollups', ask: FigureAsk) {
  const [first = new Date(0), last = first] = [ask.edges[0], ask.edges.at(-1)]
  const cut = [
    ...new Set(
      ask.edges
        .map((edge) => edge.getTime())
        .filter((ms) => ms % HOUR_MS !== 0)
        .map(hourOf),
    ),
  ]
  const within = sql`starts_at >= ${first} and starts_at < ${last}`
  const ofHours = sql`select * from ${sql.table(table)} where minutes = 60 and ${within} and ${conditions(ask)}`
  if (cut.length === 0) return sql`(${ofHours}) counted_before`
  const hours = sql`${cut.map((ms) => new Date(ms).toISOString())}::timestamptz[]`
  return sql`
    (${ofHours} and starts_at <> all (${hours})
      union all
     select quarter.* from unnest(${hours}) as cut (starts_at)
      cross join lateral (
            select * from ${sql.table(table)}
             where minutes = 15 and ${within} and starts_at >= cut.starts_at and starts_at < cut.starts_at + interval '1 hour'
               and ${conditions(ask)} offset 0) quarter) counted_before`
}

function hourOf(ms: number): number {
  return ms - (ms % HOUR_MS)
}

function conditions({ tenantId, agentKey, agentVersionId, groupBy }: FigureAsk) {
  const isWhole = agentKey === undefined && agentVersionId === undefined && (groupBy === null || groupBy === 'tenant')
  return sql.join(
    [
      isWhole ? sql`is_whole` : sql`not is_whole`,
      ...(tenantId === null ? [] : [sql`tenant_id = ${tenantId}`]),
      ...(agentKey === undefined ? [] : [sql`agent_key = ${agentKey}`]),
      ...(agentVersionId === undefined ? [] : [sql`agent_version_id = ${agentVersionId}`]),
    ],
    sql` and `,
  )
}
