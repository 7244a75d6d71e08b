import type { AgentId, TenantId } from '../kernel/ids.ts'
import type { PageRequest } from '../kernel/pages.ts'
import { newestFirst } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'

/** One of a tenant's agents. What it says and does is in its versions. */
export type AgentRow = {
  tenant_id: TenantId
  id: AgentId
  agent_key: string
  name: string
  description: string
  /** Whether a version is published only when it has passed a simulation. */
  require_simulation: boolean
  created_at: Date
  updated_at: Date
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    agents: AgentRow
  }
}

/** The rule that a tenant has one agent of a key. */
export const AGENT_KEY_CONSTRAINT = 'agents_tenant_id_agent_key_key'

/** The tenant's agents, newest first; one more than `limit`, to tell whether there are more. */
export async function listAgents(db: Db, tenantId: TenantId, page: PageRequest): Promise<AgentRow[]> {
  return db
    .selectFrom('agents')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .$call(newestFirst('agents', page))
    .execute()
}

/** @throws a unique violation of `AGENT_KEY_CONSTRAINT` when the tenant has an agent of that key. */
export async function insertAgent(tx: Tx, tenantId: TenantId, agent: Omit<AgentRow, 'tenant_id'>): Promise<AgentRow> {
  return tx
    .insertInto('agents')
    .values({ ...agent, tenant_id: tenantId })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** What of an agent can be changed. */
export type AgentChange = Partial<Pick<AgentRow, 'name' | 'description' | 'require_simulation'>>

/** To be called with `lockAgent`. */
export async function updateAgent(
  tx: Tx,
  tenantId: TenantId,
  agentId: AgentId,
  change: AgentChange & { updated_at: Date },
): Promise<AgentRow> {
  return tx
    .updateTable('agents')
    .set(change)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', agentId)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Whether the tenant has an agent of this key. */
export async function hasAgentKey(db: Db, tenantId: TenantId, agentKey: string): Promise<boolean> {
  const row = await db
    .selectFrom('agents')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('agent_key', '=', agentKey)
    .executeTakeFirst()
  return row !== undefined
}

export async function findAgent(db: Db, tenantId: TenantId, agentId: AgentId): Promise<AgentRow | null> {
  const row = await db
    .selectFrom('agents')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', agentId)
    .executeTakeFirst()
  return row ?? null
}

/** Whether the tenant has an agent of this id. */
export async function hasAgent(db: Db, tenantId: TenantId, agentId: AgentId): Promise<boolean> {
  const row = await db
    .selectFrom('agents')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', agentId)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Makes this transaction the only one that changes the agent, or adds or publishes versions of it, until it ends; null when the tenant has
 * no such agent.
 */
export async function lockAgent(tx: Tx, tenantId: TenantId, agentId: AgentId): Promise<AgentRow | null> {
  const row = await tx
    .selectFrom('agents')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', agentId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row ?? null
}
