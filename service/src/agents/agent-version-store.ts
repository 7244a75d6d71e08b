import { sql } from 'kysely'
import type { AgentId, AgentVersionId, TenantId } from '../kernel/ids.ts'
import type { PageRequest } from '../kernel/pages.ts'
import { type FittingRows, fittingRows } from '../platform/db/fitting-rows.ts'
import { newestFirst } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { StoredAgentConfig } from '../tenancy/agent-config.ts'

/**
 * draft: may be changed. published: what the agent speaks by; one at a time. superseded: was published once; publishing it
 * again is the way back.
 */
export const VERSION_STATUSES = ['draft', 'published', 'superseded'] as const
type VersionStatus = (typeof VERSION_STATUSES)[number]

type AgentVersionRow = {
  tenant_id: TenantId
  id: AgentVersionId
  agent_id: AgentId
  /** Counts from 1 for each agent. */
  version_number: number
  status: VersionStatus
  config: StoredAgentConfig
  created_at: Date
  updated_at: Date
  published_at: Date | null
  /** When it began to say what it says, if that is not what it said at first. */
  config_changed_at: Date | null
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    agent_versions: AgentVersionRow
  }
}

/** A version together with what its agent is called. */
export type AgentVersion = AgentVersionRow & { agent_key: string; agent_name: string }

/** Versions of the tenant with their agents' names; the one place that says how they are joined. */
function versionsOf(db: Db, tenantId: TenantId) {
  return db
    .selectFrom('agent_versions as version')
    .innerJoin('agents as agent', (join) =>
      join.onRef('agent.tenant_id', '=', 'version.tenant_id').onRef('agent.id', '=', 'version.agent_id'),
    )
    .selectAll('version')
    .select(['agent.agent_key', 'agent.name as agent_name'])
    .where('version.tenant_id', '=', tenantId)
}

/** A page of versions, newest first, of one agent or of all. */
export async function listAgentVersions(
  db: Db,
  tenantId: TenantId,
  agentId: AgentId | null,
  page: PageRequest,
): Promise<FittingRows<AgentVersion>> {
  const query = versionsOf(db, tenantId)
    .$if(agentId !== null, (query) => query.where('version.agent_id', '=', agentId))
    .$call(newestFirst('version', page))
  return fittingRows(db, query, ['config'], page.limit)
}

export async function findAgentVersion(
  db: Db,
  tenantId: TenantId,
  versionId: AgentVersionId,
): Promise<AgentVersion | null> {
  const row = await versionsOf(db, tenantId).where('version.id', '=', versionId).executeTakeFirst()
  return row ?? null
}

/** A version that calls of its agent may be answered by. `traffic_percentage`: its share; null without an entry, as where that begins. */
export type SpeakingVersion = AgentVersion & { traffic_percentage: number | null; starts_at: number | null }

/** The published version of the agent of this key, and those with a share of its calls, in the order of the shares. */
export async function findSpeakingVersions(db: Db, tenantId: TenantId, agentKey: string): Promise<SpeakingVersion[]> {
  return versionsOf(db, tenantId)
    .leftJoin('agent_version_rollouts as rollout', (join) =>
      join.onRef('rollout.tenant_id', '=', 'version.tenant_id').onRef('rollout.agent_version_id', '=', 'version.id'),
    )
    .select(['rollout.starts_at', sql<number | null>`rollout.traffic_percentage::float8`.as('traffic_percentage')])
    .where('agent.agent_key', '=', agentKey)
    .where((eb) => eb.or([eb('version.status', '=', 'published'), eb('rollout.position', 'is not', null)]))
    .orderBy('rollout.position')
    .execute()
}

/** The number that comes after the agent's last one. To be asked with `lockAgent`. */
export async function nextVersionNumber(tx: Tx, tenantId: TenantId, agentId: AgentId): Promise<number> {
  const row = await tx
    .selectFrom('agent_versions')
    .select((eb) => eb.fn.max('version_number').as('last'))
    .where('tenant_id', '=', tenantId)
    .where('agent_id', '=', agentId)
    .executeTakeFirst()
  return (row?.last ?? 0) + 1
}

/** Adds a draft. */
export async function insertDraft(
  tx: Tx,
  tenantId: TenantId,
  draft: Omit<AgentVersionRow, 'tenant_id' | 'status' | 'published_at' | 'config_changed_at'>,
): Promise<void> {
  await tx
    .insertInto('agent_versions')
    .values({ ...draft, tenant_id: tenantId, status: 'draft', published_at: null, config_changed_at: null })
    .execute()
}

/** Whether one of the tenant's versions has this schema, in whatever order of members. */
export async function hasExtraction(db: Db, tenantId: TenantId, extraction: Record<string, unknown>): Promise<boolean> {
  const row = await db
    .selectFrom('agent_versions')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where(sql<boolean>`config -> 'extraction' = ${JSON.stringify(extraction)}::jsonb`)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Replaces the config of a draft; false when the version is none. The check and the change are one statement. */
export async function replaceDraftConfig(
  db: Db,
  tenantId: TenantId,
  versionId: AgentVersionId,
  change: { config: StoredAgentConfig; at: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('agent_versions')
    .set({ config: change.config, updated_at: change.at, config_changed_at: change.at })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', versionId)
    .where('status', '=', 'draft')
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Makes the agent's published version, if it has one, a superseded one. Returns which it was, and since when. */
export async function supersedePublished(
  tx: Tx,
  tenantId: TenantId,
  agentId: AgentId,
  at: Date,
): Promise<Pick<AgentVersionRow, 'id' | 'published_at'> | null> {
  const row = await tx
    .updateTable('agent_versions')
    .set({ status: 'superseded', updated_at: at })
    .where('tenant_id', '=', tenantId)
    .where('agent_id', '=', agentId)
    .where('status', '=', 'published')
    .returning(['id', 'published_at'])
    .executeTakeFirst()
  return row ?? null
}

/** When what it says was changed last. A node of the version before has written of a draft only that it was changed. */
const CHANGED_AT = sql<Date | null>`
  case when status = 'draft' and updated_at > created_at then updated_at else config_changed_at end`

/** Makes the version the published one. The one before it must have been superseded in the same transaction. */
export async function setPublished(tx: Tx, tenantId: TenantId, versionId: AgentVersionId, at: Date): Promise<void> {
  await tx
    .updateTable('agent_versions')
    .set({ status: 'published', published_at: at, updated_at: at, config_changed_at: CHANGED_AT })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', versionId)
    .execute()
}
