import { type ColumnType, sql } from 'kysely'
import type { AgentId, AgentVersionId, TenantId } from '../../kernel/ids.ts'
import type { PageRequest } from '../../kernel/pages.ts'
import { takeLock } from '../../platform/db/advisory-locks.ts'
import { newestFirst } from '../../platform/db/newest-first.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import type { StoredAgentConfig } from '../../tenancy/agent-config.ts'
import type { Scenario } from './scenario.ts'

export type SimulationId = string & { readonly __brand: 'SimulationId' }

export const SIMULATION_STATUSES = ['queued', 'running', 'completed', 'cancelled'] as const
export type SimulationStatus = (typeof SIMULATION_STATUSES)[number]

/** How an agent is tried: its chat model is asked, or it is called. */
export const SIMULATION_MODES = ['text', 'voice'] as const
export type SimulationMode = (typeof SIMULATION_MODES)[number]

/** Scenarios that a version of an agent is tried with. */
export type SimulationRow = {
  tenant_id: TenantId
  id: SimulationId
  name: string | null
  mode: SimulationMode
  agent_id: AgentId
  agent_key: string
  agent_name: string
  agent_version_id: AgentVersionId
  version_number: number
  /** Of the version, as it was when this was asked for. */
  config: StoredAgentConfig
  scenarios: Scenario[]
  repetitions: number
  pass_threshold: number
  is_scored: boolean
  min_score: number | null
  runs_tools: boolean
  /** Null: the agent's own. */
  caller_model: string | null
  status: SimulationStatus
  /** Null until it is completed. */
  pass_rate: number | null
  passed: boolean | null
  created_at: Date
  started_at: Date | null
  completed_at: Date | null
}

/** A simulation without what is tried: scenarios and config may be megabytes. */
export type ListedSimulation = Omit<SimulationRow, 'scenarios' | 'config'>

const LISTED = [
  ...(['tenant_id', 'id', 'name', 'mode', 'agent_id', 'agent_key', 'agent_name', 'agent_version_id'] as const),
  ...(['version_number', 'repetitions', 'pass_threshold', 'is_scored', 'min_score', 'runs_tools'] as const),
  ...(['caller_model', 'status', 'pass_rate', 'passed', 'created_at', 'started_at', 'completed_at'] as const),
] as const

declare module '../../platform/db/schema.ts' {
  interface Schema {
    simulations: Omit<SimulationRow, 'scenarios'> & {
      /** Written as text: a driver would take a list for one of the database's own. */
      scenarios: ColumnType<Scenario[], string, never>
    }
  }
}

/** What simulations can be looked for by. What is undefined is not asked. */
export type SimulationFilter = {
  agentKey?: string | undefined
  agentVersionId?: AgentVersionId | undefined
  status?: SimulationStatus | undefined
  passed?: boolean | undefined
  /** Of `created_at`, inclusive. */
  after?: Date | undefined
  /** Of `created_at`, exclusive. */
  before?: Date | undefined
}

export async function insertSimulation(tx: Tx, simulation: SimulationRow): Promise<void> {
  await tx
    .insertInto('simulations')
    .values({ ...simulation, scenarios: JSON.stringify(simulation.scenarios) })
    .execute()
}

export async function findSimulation(db: Db, tenantId: TenantId, id: SimulationId): Promise<SimulationRow | null> {
  const row = await db
    .selectFrom('simulations')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row ?? null
}

/** The tenant's simulations, newest first; one more than `limit`, to tell whether there are more. */
export function listSimulations(
  db: Db,
  tenantId: TenantId,
  filter: SimulationFilter,
  page: PageRequest,
): Promise<ListedSimulation[]> {
  const { agentKey, agentVersionId, status, passed, after, before } = filter
  return db
    .selectFrom('simulations')
    .select(LISTED)
    .where('tenant_id', '=', tenantId)
    .$if(agentKey !== undefined, (query) => query.where('agent_key', '=', agentKey as string))
    .$if(agentVersionId !== undefined, (query) =>
      query.where('agent_version_id', '=', agentVersionId as AgentVersionId),
    )
    .$if(status !== undefined, (query) => query.where('status', '=', status as SimulationStatus))
    .$if(passed !== undefined, (query) => query.where('passed', '=', passed as boolean))
    .$if(after !== undefined, (query) => query.where('created_at', '>=', after as Date))
    .$if(before !== undefined, (query) => query.where('created_at', '<', before as Date))
    .$call(newestFirst('simulations', page))
    .execute()
}

/**
 * Makes this transaction the only one that asks for simulations of the tenant until it ends. To be asked before they are counted:
 * what is counted then holds every one that another has written down.
 */
export async function lockNewSimulations(tx: Tx, tenantId: TenantId): Promise<void> {
  await takeLock(tx, 'newSimulations', tenantId)
}

/** How many of the tenant's simulations are not over. */
export async function countOpenSimulations(db: Db, tenantId: TenantId): Promise<number> {
  const row = await db
    .selectFrom('simulations')
    .select(sql<number>`count(*)::integer`.as('count'))
    .where('tenant_id', '=', tenantId)
    // Written out, so that the index of those that are not over serves.
    .where(sql<boolean>`status in ('queued', 'running')`)
    .executeTakeFirst()
  return row?.count ?? 0
}

/** The first of its runs has begun; a repeat changes nothing. */
export async function startSimulation(db: Db, tenantId: TenantId, id: SimulationId, now: Date): Promise<void> {
  await db
    .updateTable('simulations')
    .set({ status: 'running', started_at: now })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('status', '=', 'queued')
    .execute()
}

/** Makes this transaction the only one that changes the simulation until it ends; null when there is none. */
export async function lockSimulation(tx: Tx, tenantId: TenantId, id: SimulationId): Promise<ListedSimulation | null> {
  const row = await tx
    .selectFrom('simulations')
    .select(LISTED)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row ?? null
}

type SimulationChange = Partial<Pick<SimulationRow, 'status' | 'pass_rate' | 'passed' | 'started_at' | 'completed_at'>>

/** To be called with `lockSimulation`. */
export async function updateSimulation(
  tx: Tx,
  { tenant_id, id }: Pick<SimulationRow, 'tenant_id' | 'id'>,
  change: SimulationChange,
): Promise<ListedSimulation> {
  return tx
    .updateTable('simulations')
    .set(change)
    .where('tenant_id', '=', tenant_id)
    .where('id', '=', id)
    .returning(LISTED)
    .executeTakeFirstOrThrow()
}

/** Deletes the tenant's simulations that were over before an instant, with their runs, the oldest first. @returns how many. */
export async function deleteOldSimulations(db: Db, tenantId: TenantId, before: Date, limit: number): Promise<number> {
  const { rows } = await sql`
    delete from simulations
     where (tenant_id, id) in (select tenant_id, id from simulations
                                where tenant_id = ${tenantId} and completed_at < ${before}
                                order by completed_at limit ${limit} for update skip locked)
    returning id`.execute(db)
  return rows.length
}

/** Whether a version has passed a simulation with exactly the config that it has now. */
export async function hasPassedSimulation(db: Db, tenantId: TenantId, versionId: AgentVersionId): Promise<boolean> {
  const { rows } = await sql`
    select 1 from simulations simulation
      join agent_versions version
        on version.tenant_id = simulation.tenant_id and version.id = simulation.agent_version_id
     where simulation.tenant_id = ${tenantId} and simulation.agent_version_id = ${versionId} and simulation.passed
       and simulation.config = version.config
     limit 1`.execute(db)
  return rows.length > 0
}
