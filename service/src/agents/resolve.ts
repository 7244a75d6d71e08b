import type { Clock } from '../kernel/clock.ts'
import type { AgentId, AgentVersionId, TenantId } from '../kernel/ids.ts'
import { isUuid } from '../platform/db/newest-first.ts'
import type { Db } from '../platform/db/schema.ts'
import { agentConfigDefaults, type CompleteAgentConfig } from '../tenancy/agent-config-defaults.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { type AgentVersion, findAgentVersion, findPublishedVersion } from './agent-version-store.ts'
import { RecentAnswers } from './recent-answers.ts'

/** Who is to speak: what the agent of a key has published, an exact version, or whoever speaks when nobody is named. */
export type AgentChoice = { agentKey: string } | { versionId: AgentVersionId } | null

/** What a call speaks by. The ids and the key are null when the tenant document's own `agent` speaks. */
export type ResolvedAgent = {
  agentId: AgentId | null
  agentKey: string | null
  versionId: AgentVersionId | null
  versionNumber: number | null
  /** What the agent calls itself, for people; never empty. */
  agentName: string
  config: CompleteAgentConfig
}

/**
 * Finds what a call speaks by. A key without a published version falls back on the tenant document's `agent`; an exact
 * version never does, and may be a draft. An answer is at most a second old; while the database does not answer, an older
 * one is given. Null when nothing resolves.
 *
 * The function throws AppError `unavailable` for what was not asked for before while the database does not answer.
 */
export type ResolveAgent = (tenant: TenantRuntime, choice: AgentChoice) => Promise<ResolvedAgent | null>

export function makeResolveAgent({ db, clock }: { db: Db; clock: Clock }): ResolveAgent {
  const cache = new RecentAnswers<ResolvedAgent>({ clock })

  async function loadVersion(tenant: TenantRuntime, versionId: AgentVersionId): Promise<ResolvedAgent | null> {
    const version = isUuid(versionId) ? await findAgentVersion(db, tenant.tenant_id, versionId) : null
    return version && fromVersion(version)
  }

  /** Known by its version, too: the stream of the call that was answered by the key asks for that a moment later. */
  async function loadPublished({ tenant_id }: TenantRuntime, agentKey: string): Promise<ResolvedAgent | null> {
    const version = await findPublishedVersion(db, tenant_id, agentKey)
    if (!version) return null
    const agent = fromVersion(version)
    cache.put(nameOf(tenant_id, version.id), agent)
    return agent
  }

  return async (tenant, choice) => {
    if (choice === null) return fromDocument(tenant)
    if ('versionId' in choice) {
      const { versionId } = choice
      return cache.get(nameOf(tenant.tenant_id, versionId), () => loadVersion(tenant, versionId))
    }
    const { agentKey } = choice
    const published = await cache.get(`${tenant.tenant_id} key ${agentKey}`, () => loadPublished(tenant, agentKey))
    return published ?? fromDocument(tenant)
  }
}

function nameOf(tenantId: TenantId, versionId: AgentVersionId): string {
  return `${tenantId} version ${versionId}`
}

function fromVersion(version: AgentVersion): ResolvedAgent {
  const config = agentConfigDefaults(version.config)
  return {
    agentId: version.agent_id,
    agentKey: version.agent_key,
    versionId: version.id,
    versionNumber: version.version_number,
    agentName: config.agent_name || version.agent_name,
    config,
  }
}

function fromDocument({ agent: config, name, tenant_id }: TenantRuntime): ResolvedAgent | null {
  if (config === null) return null
  const agentName = config.agent_name || name || tenant_id
  return { agentId: null, agentKey: null, versionId: null, versionNumber: null, agentName, config }
}
