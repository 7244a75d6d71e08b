import { sql } from 'kysely'
import type { AgentVersionId, TenantId } from '../../kernel/ids.ts'
import type { Db } from '../../platform/db/schema.ts'
import { HOUR_MINUTES, rangesOf } from './rollup-ranges.ts'

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
export type OutcomeCount = { outcome: string | null; calls: number }

/** The outcomes of a span and what it is told apart by, in no order. */
export type OutcomeRow = FigureKey & { outcomes: OutcomeCount[] }

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
export type Outcomes = { outcomes: OutcomeRow[]; inAll: OutcomeCount[] }

type OutcomeLists = { outcomes: (string | null)[]; calls: number[] }

/**
 * The outcomes of each span that has any, those that occur most and the sum of all others: `OUTCOMES_SHOWN` and one at most of
 * each span and what it is told apart by; and the same of all together. One query has both, for both read the same rows.
 */
export async function listOutcomes(db: Db, ask: FigureAsk): Promise<Outcomes> {
  const names = ['span', ...columnsOf(ask)]
  const nothing = sql.join(
    names.map((name) => sql`null as ${sql.ref(name)}, `),
    sql``,
  )
  const { rows } = await sql<FigureKey & OutcomeLists & { is_of_all: boolean }>`
    with counted as materialized (
      select ${spanOf(ask)} as span, ${list(names.slice(1))} outcome, sum(calls) as calls
        from ${rollups('call_outcome_rollups', ask)}
       group by ${list(names)} outcome),
    listed as (
      select true as is_of_all, ${nothing} array_agg(outcome) as outcomes, array_agg(calls) as calls
        from (select outcome, sum(calls)::bigint as calls from counted group by outcome) summed
      having count(*) > 0
       union all
      (select false, ${list(names)} array_agg(outcome), array_agg(calls)
         from counted group by ${sql.join(names.map((name) => sql.ref(name)))} limit ${ask.limit + 1}))
    select is_of_all, ${list(names)} to_json(most.outcomes) as outcomes, to_json(most.calls) as calls
      from listed cross join lateral (${mostOf('listed')}) most`.execute(db)
  const told = rows.map(({ is_of_all, outcomes, calls, ...key }) => ({
    isOfAll: is_of_all,
    row: { ...key, outcomes: outcomes.map((outcome, at) => ({ outcome, calls: calls[at] ?? 0 })) },
  }))
  return {
    outcomes: told.filter(({ isOfAll }) => !isOfAll).map(({ row }) => row),
    inAll: told.find(({ isOfAll }) => isOfAll)?.row.outcomes ?? [],
  }
}

/** Of a row's lists the outcomes that occur most, and all others as null. Most lists are as short as that: they stay as they are. */
function mostOf(row: string) {
  const [outcomes, calls] = [sql.ref(`${row}.outcomes`), sql.ref(`${row}.calls`)]
  const shown = sql.lit(OUTCOMES_SHOWN)
  return sql`
    select ${outcomes}, ${calls} where cardinality(${outcomes}) <= ${shown}
     union all
    select array_agg(outcome), array_agg(calls)
      from (select case when outcome is not null and place <= ${shown} then outcome end as outcome, sum(calls)::bigint as calls
              from (select *, row_number() over (order by outcome is null, calls desc, outcome collate "C") as place
                      from unnest(${outcomes}, ${calls}) as each (outcome, calls)) placed
             group by 1) cut
    having cardinality(${outcomes}) > ${shown}`
}

const columnsOf = ({ groupBy }: FigureAsk) => (groupBy === null ? [] : GROUP_COLUMNS[groupBy])
const list = (names: string[]) =>
  sql.join(
    names.map((name) => sql`${sql.ref(name)}, `),
    sql``,
  )
const orderBy = (names: string[]) =>
  sql.join(
    names.map((name) => sql`, ${sql.ref(name)}`),
    sql``,
  )

function spanOf({ edges }: FigureAsk) {
  return sql`width_bucket(starts_at, ${edges.map((edge) => edge.toISOString())}::timestamptz[])`
}

/**
 * The rows that are to be added up: as few as make up the spans. A long one of whose days an hour was counted since they were added
 * up is read by its hours: within one statement, so that all is seen as it was at one time.
 */
function rollups(table: 'call_rollups' | 'call_outcome_rollups', ask: FigureAsk) {
  const ranges = rangesOf(ask.edges)
  const times = (end: 'from' | 'to') => sql`${ranges.map((range) => range[end].toISOString())}::timestamptz[]`
  const hour = sql.lit(HOUR_MINUTES)
  return sql`
    (with changed as materialized (
       select distinct starts_at, starts_at + interval '1 day' as ends_at from call_day_changes
        where starts_at < ${ask.edges.at(-1)} and starts_at > ${ask.edges[0]}::timestamptz - interval '1 day'
          and ${ask.tenantId === null ? sql`true` : sql`tenant_id = ${ask.tenantId}`}),
     ranges as materialized (
       select case when minutes <= ${hour} or not exists (select from changed where starts_at < to_at and ends_at > from_at)
                   then minutes else ${hour} end as minutes, from_at, to_at
         from unnest(${ranges.map(({ minutes }) => minutes)}::integer[], ${times('from')}, ${times('to')})
           as asked (minutes, from_at, to_at))
     select counted.* from ranges
      cross join lateral (
            select * from ${sql.table(table)}
             where minutes = ranges.minutes and ${conditions(ask)} and starts_at >= from_at
               and starts_at < case when ranges.minutes > ${hour} then from_at + interval '1 hour' else to_at end
            offset 0) counted) counted_before`
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
