import type { Clock } from '../kernel/clock.ts'
import type { AgentId, AgentVersionId, TenantId } from '../kernel/ids.ts'
import { isUuid } from '../platform/db/newest-first.ts'
import type { Db } from '../platform/db/schema.ts'
import { KEY_PATTERN } from '../platform/http/schemas.ts'
import type { Log } from '../platform/log.ts'
import { agentConfigDefaults, type CompleteAgentConfig } from '../tenancy/agent-config-defaults.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import {
  type AgentVersion,
  findAgentVersion,
  findSpeakingVersions,
  type SpeakingVersion,
} from './agent-version-store.ts'
import { RecentAnswers } from './recent-answers.ts'
import { chooseShare } from './rollout-shares.ts'

/**
 * Who is to speak: what the agent of a key has published, an exact version, or whoever speaks when nobody is named. With
 * `caller`, what the choice sticks to, the versions of the agent's rollout get their shares of the calls.
 */
export type AgentChoice = { agentKey: string; caller?: string } | { versionId: AgentVersionId } | null

/** What the agent of a key speaks by: each share of its calls, and the published version behind them. */
type Speaker = { percentage: number; startsAt: number | null; agent: ResolvedAgent }
type Speakers = { agentId: AgentId; published: ResolvedAgent; shares: Speaker[] }

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

/** Sockets and models name agents in any text, also in such as the database takes for no text. */
const AGENT_KEY = new RegExp(KEY_PATTERN)

export function makeResolveAgent({ db, clock, log }: { db: Db; clock: Clock; log: Pick<Log, 'error'> }): ResolveAgent {
  const onFault = (agent: string, err: unknown) =>
    log.error({ err, agent }, 'an agent cannot be read: calls go on with what was last known of it')
  const cache = new RecentAnswers<ResolvedAgent>({ clock, onFault })
  const byKey = new RecentAnswers<Speakers>({ clock, onFault })

  async function loadVersion(tenant: TenantRuntime, versionId: AgentVersionId): Promise<ResolvedAgent | null> {
    const version = isUuid(versionId) ? await findAgentVersion(db, tenant.tenant_id, versionId) : null
    return version && fromVersion(version)
  }

  /** Known by their versions, too: the stream of the call that was answered by the key asks for those a moment later. */
  async function loadSpeakers({ tenant_id }: TenantRuntime, agentKey: string): Promise<Speakers | null> {
    if (!AGENT_KEY.test(agentKey)) return null
    const speakers = speakersOf(await findSpeakingVersions(db, tenant_id, agentKey))
    for (const agent of speakers ? [speakers.published, ...speakers.shares.map((share) => share.agent)] : []) {
      if (agent.versionId !== null) cache.put(nameOf(tenant_id, agent.versionId), agent)
    }
    return speakers
  }

  return async (tenant, choice) => {
    if (choice === null) return fromDocument(tenant)
    if ('versionId' in choice) {
      const { versionId } = choice
      return cache.get(nameOf(tenant.tenant_id, versionId), () => loadVersion(tenant, versionId))
    }
    const { agentKey, caller } = choice
    const speakers = await byKey.get(`${tenant.tenant_id} key ${agentKey}`, () => loadSpeakers(tenant, agentKey))
    if (!speakers) return fromDocument(tenant)
    const { agentId, shares, published } = speakers
    return (caller === undefined ? null : chooseShare(shares, { agentId, caller })?.agent) ?? published
  }
}

/**
 * The same where there can be no agents but those of tenants' documents: such an agent speaks by whatever key it is asked for,
 * and there is no version. Nothing is taken from its conversations when they are over: they are not kept.
 */
export const resolveFromDocument: ResolveAgent = async (tenant, choice) => {
  if (choice && 'versionId' in choice) return null
  const agent = fromDocument(tenant)
  return agent && { ...agent, agentKey: choice?.agentKey ?? null, config: { ...agent.config, extraction: null } }
}

function nameOf(tenantId: TenantId, versionId: AgentVersionId): string {
  return `${tenantId} version ${versionId}`
}

/** Null without a published version: there is nothing yet whose calls could be shared. */
function speakersOf(versions: SpeakingVersion[]): Speakers | null {
  const published = versions.find(({ status }) => status === 'published')
  if (!published) return null
  const shares = versions.flatMap((version) => {
    const { traffic_percentage: percentage, starts_at: startsAt } = version
    return percentage === null ? [] : [{ percentage, startsAt, agent: fromVersion(version) }]
  })
  return { agentId: published.agent_id, published: fromVersion(published), shares }
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
