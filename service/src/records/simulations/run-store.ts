import { type ColumnType, sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import type { ChatUsage } from '../../platform/chat/port.ts'
import { noteForCommit } from '../../platform/db/commits.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import type { ToolStatus } from '../call-values.ts'
import type { CriterionScore } from '../evaluations/evaluation-store.ts'
import type { EndedBy } from './scenario.ts'
import type { SimulationId } from './simulation-store.ts'

export type SimulationRunId = string & { readonly __brand: 'SimulationRunId' }

/** error: it could not be run to its end, which says nothing of the agent. */
export const RUN_STATUSES = ['pending', 'running', 'passed', 'failed', 'error', 'cancelled'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

/** `replyMs`: how long the agent took for it; null of others, and of what needed no model. */
export type SimulatedTurn = { role: 'caller' | 'agent' | 'system'; text: string; replyMs: number | null }

/**
 * What answered a tool that the agent called: the scenario; a built-in of ours, which did nothing outside the simulation; the
 * tool itself; or nobody, and the model was told to go on as if it had been done.
 */
export const ANSWERED_BY = ['scenario', 'built_in', 'tool', 'nobody'] as const

/** A tool that the agent called. `arguments` and `result` as the model wrote and was told them: JSON as a rule. */
export type SimulatedCall = {
  name: string
  arguments: string
  result: string
  status: ToolStatus
  answeredBy: (typeof ANSWERED_BY)[number]
}

/** What has come of a run. */
export type RunResult = {
  status: Extract<RunStatus, 'passed' | 'failed' | 'error'>
  /** Why it has not passed, as sentences. */
  reasons: string[]
  transcript: SimulatedTurn[]
  function_calls: SimulatedCall[]
  ended_by: EndedBy | null
  score: number | null
  criteria: CriterionScore[] | null
  summary: string | null
  /** The longest that the agent took for a turn. */
  slowest_ms: number | null
}

/** What all answers of chat models took that were asked for a run, however often it was begun. */
type RunUsage = {
  /** Null where no provider has told it, as the next two. */
  input_tokens: number | null
  cached_tokens: number | null
  output_tokens: number | null
  /** As far as prices are known; null where none is. */
  cost_usd: number | null
  /** Whether some of it has no known price. */
  has_unpriced: boolean
}

/** A scenario of a simulation, once. */
export type SimulationRunRow = Omit<RunResult, 'status'> &
  RunUsage & {
    tenant_id: TenantId
    id: SimulationRunId
    simulation_id: SimulationId
    /** In the simulation, from 1. */
    position: number
    scenario_index: number
    scenario: string
    repetition: number
    status: RunStatus
    due_at: Date
    attempts: number
    claim_token: string | null
    leased_until: Date | null
    started_at: Date | null
    ended_at: Date | null
    created_at: Date
  }

type Written = 'reasons' | 'transcript' | 'function_calls' | 'criteria'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    simulation_runs: Omit<SimulationRunRow, Written> & {
      /** Written as text: a driver would take a list for one of the database's own. */
      [Name in Written]: ColumnType<SimulationRunRow[Name], string | null, string | null>
    }
  }
}

/** What those listen to who run simulations: a tenant has one that is to be run. */
export const SIMULATIONS_TOPIC = 'simulation_runs'

/** A run to be: of which scenario, and the how manyth of it. */
export type NewRun = Pick<SimulationRunRow, 'id' | 'position' | 'scenario_index' | 'scenario' | 'repetition'>

export async function insertRuns(
  tx: Tx,
  { tenantId, simulationId, now }: { tenantId: TenantId; simulationId: SimulationId; now: Date },
  runs: NewRun[],
): Promise<void> {
  const nothing = {
    ...{ reasons: '[]', transcript: '[]', function_calls: '[]', criteria: null, summary: null, score: null },
    ...{ ended_by: null, slowest_ms: null, input_tokens: null, cached_tokens: null, output_tokens: null },
    ...{ cost_usd: null, has_unpriced: false, claim_token: null, leased_until: null, started_at: null, ended_at: null },
  }
  const shared = { tenant_id: tenantId, simulation_id: simulationId, due_at: now, created_at: now }
  const rows = runs.map((run) => ({ ...run, ...shared, ...nothing, status: 'pending' as const, attempts: 0 }))
  await tx.insertInto('simulation_runs').values(rows).execute()
  noteForCommit(tx, SIMULATIONS_TOPIC, tenantId)
}

/** A run without what was said and done in it. */
export type ListedRun = Omit<SimulationRunRow, 'transcript' | 'function_calls' | 'criteria'>

/** The runs of a simulation in their order; there are as many as a simulation may have, at most. */
export function listRuns(db: Db, tenantId: TenantId, simulationId: SimulationId): Promise<ListedRun[]> {
  return db
    .selectFrom('simulation_runs')
    .select(['tenant_id', 'id', 'simulation_id', 'position', 'scenario_index', 'scenario', 'repetition', 'status'])
    .select(['due_at', 'attempts', 'claim_token', 'leased_until', 'reasons', 'ended_by', 'score', 'summary'])
    .select(['slowest_ms', 'input_tokens', 'cached_tokens', 'output_tokens', 'cost_usd', 'has_unpriced'])
    .select(['started_at', 'ended_at', 'created_at'])
    .where('tenant_id', '=', tenantId)
    .where('simulation_id', '=', simulationId)
    .orderBy('position')
    .execute()
}

export async function findRun(
  db: Db,
  tenantId: TenantId,
  { simulationId, id }: { simulationId: SimulationId; id: SimulationRunId },
): Promise<SimulationRunRow | null> {
  const row = await db
    .selectFrom('simulation_runs')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('simulation_id', '=', simulationId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row ?? null
}

/** How many runs have come to what, and what they cost in USD: null where some of it is not known. */
export type RunCounts = Record<RunStatus, number> & { costUsd: number | null }

/** Of each of these simulations. */
export async function countRuns(
  db: Db,
  tenantId: TenantId,
  simulationIds: SimulationId[],
): Promise<Map<SimulationId, RunCounts>> {
  if (simulationIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('simulation_runs')
    .select(['simulation_id', 'status'])
    .select(sql<number>`count(*)::integer`.as('count'))
    .select(sql<number | null>`sum(cost_usd)::double precision`.as('usd'))
    .select(sql<boolean>`bool_or(has_unpriced)`.as('isPartly'))
    .where('tenant_id', '=', tenantId)
    .where('simulation_id', 'in', simulationIds)
    .groupBy(['simulation_id', 'status'])
    .execute()
  const counts = new Map(simulationIds.map((id) => [id, noRuns()]))
  for (const { simulation_id, status, count, usd } of rows) {
    const of = counts.get(simulation_id)
    if (!of) continue
    of[status] = count
    if (usd !== null) of.costUsd = (of.costUsd ?? 0) + usd
  }
  for (const { simulation_id, isPartly } of rows) {
    const of = counts.get(simulation_id)
    if (of && isPartly) of.costUsd = null
  }
  return counts
}

function noRuns(): RunCounts {
  return { pending: 0, running: 0, passed: 0, failed: 0, error: 0, cancelled: 0, costUsd: null }
}

/** Those that are not over will not be run, and whoever is at one loses it. To be called with `lockSimulation`. */
export async function cancelRuns(tx: Tx, tenantId: TenantId, simulationId: SimulationId, now: Date): Promise<void> {
  await tx
    .updateTable('simulation_runs')
    .set({ status: 'cancelled', claim_token: null, leased_until: null, ended_at: now })
    .where('tenant_id', '=', tenantId)
    .where('simulation_id', '=', simulationId)
    .where('status', 'in', ['pending', 'running'])
    .execute()
}

/**
 * Adds what an answer took to what its run has, whoever has the run by now: what was paid for is paid, of a cancelled one too.
 *
 * @param usage null where the provider tells nothing of it.
 */
export async function addRunUsage(
  db: Db,
  { tenantId, id }: { tenantId: TenantId; id: SimulationRunId },
  usage: ChatUsage | null,
): Promise<void> {
  const { costUsd = null } = usage ?? {}
  const more = (column: 'input_tokens' | 'cached_tokens' | 'output_tokens' | 'cost_usd', value: number) =>
    sql<number>`coalesce(${sql.ref(column)}, 0) + ${value}`
  await db
    .updateTable('simulation_runs')
    .$if(usage !== null, (query) => {
      const { inputTokens, cachedTokens, outputTokens } = usage as ChatUsage
      return query.set({
        input_tokens: more('input_tokens', inputTokens),
        cached_tokens: more('cached_tokens', cachedTokens),
        output_tokens: more('output_tokens', outputTokens),
      })
    })
    .set(costUsd === null ? { has_unpriced: true } : { cost_usd: more('cost_usd', costUsd) })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .execute()
}

/** What a run has cost so far, in USD, however often it was begun. */
export async function findRunCost(
  db: Db,
  { tenantId, id }: { tenantId: TenantId; id: SimulationRunId },
): Promise<number> {
  const row = await db
    .selectFrom('simulation_runs')
    .select(sql<number>`coalesce(cost_usd, 0)::double precision`.as('usd'))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.usd ?? 0
}

/** What the tenant's runs that ended since an instant, or have not ended, have cost, in USD. */
export async function sumRunCosts(db: Db, tenantId: TenantId, since: Date): Promise<number> {
  const row = await db
    .selectFrom('simulation_runs')
    .select(sql<number>`coalesce(sum(cost_usd), 0)::double precision`.as('usd'))
    .where('tenant_id', '=', tenantId)
    .where((eb) => eb.or([eb('ended_at', '>=', since), eb('ended_at', 'is', null)]))
    .where('cost_usd', 'is not', null)
    .executeTakeFirst()
  return row?.usd ?? 0
}
