import type { Actor } from '../kernel/actor.ts'
import type { Clock } from '../kernel/clock.ts'
import { AppError, invalidRequest } from '../kernel/errors.ts'
import { etagOf } from '../kernel/etag.ts'
import { type AgentId, type AgentVersionId, newId, type TenantId } from '../kernel/ids.ts'
import { type Page, type PageRequest, toPage } from '../kernel/pages.ts'
import { isUuid } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { SpeechFault } from '../platform/speech/port.ts'
import { hasPassedSimulation } from '../records/simulations/simulation-store.ts'
import {
  type AgentVersionConfig,
  agentConfigFaults,
  type StoredAgentConfig,
  withAllTexts,
} from '../tenancy/agent-config.ts'
import { audit } from '../tenancy/audit-log.ts'
import { expectTenant, holdKnownTenant } from '../tenancy/known-tenant.ts'
import { checkPrecondition } from '../tenancy/tenant-preconditions.ts'
import { findStoredTenant } from '../tenancy/tenant-store.ts'
import { unknownTools } from '../tenancy/tenant-tools.ts'
import { hasAgent, lockAgent } from './agent-store.ts'
import {
  type AgentVersion,
  findAgentVersion,
  hasExtraction,
  insertDraft,
  listAgentVersions,
  nextVersionNumber,
  replaceDraftConfig,
  setPublished,
  supersedePublished,
} from './agent-version-store.ts'
import type { Rollout } from './rollout-store.ts'
import { takeOut } from './rollouts.ts'
import { unknownAgent } from './unknown-agent.ts'

/** The versions of agents: drafted, published, and published again to go back. */
export type AgentVersions = {
  /** Newest first, of one agent or of all of them. @throws AppError `not_found` for an unknown tenant or agent. */
  list(tenantId: TenantId, agentId: AgentId | null, page: PageRequest): Promise<Page<AgentVersion>>
  /**
   * Adds a draft, numbered after the agent's last version.
   *
   * @throws AppError `not_found` for an unknown tenant or agent, `invalid_request` for faults of the config.
   */
  create(tenantId: TenantId, agentId: AgentId, config: AgentVersionConfig, by: Actor): Promise<AgentVersion>
  /**
   * Replaces the config of a draft, as a whole. With the one that it has, nothing changes.
   *
   * @throws AppError `not_found`, `conflict` when the version is no draft, `precondition_failed` when its config is not that of
   * `ifMatch` any more, `invalid_request` for faults of the config.
   */
  replaceConfig(
    tenantId: TenantId,
    versionId: AgentVersionId,
    wanted: { config: AgentVersionConfig; ifMatch?: string | undefined },
    by: Actor,
  ): Promise<AgentVersion>
  /**
   * Makes the version what its agent speaks by, in place of the one before. Publishing the published one changes nothing;
   * publishing a superseded one is the way back. Of several at once each waits for the other and the last one stays.
   *
   * What it had of the agent's rollout it has no more: that was a share beside the version before, and going back to that one ends it.
   *
   * What a draft has callers on hold hear is fetched first.
   *
   * @throws AppError `not_found`; `precondition_failed` when its config is not that of `ifMatch`; `invalid_request` when what is fetched
   * is no sound, or cannot be had; `conflict` for a draft that has passed no simulation, of an agent that demands one.
   */
  publish(tenantId: TenantId, versionId: AgentVersionId, by: Actor, ifMatch?: string): Promise<AgentVersion>
  /** What whoever wrote a config should know although it was taken: names of tools that there are not, by the tenant's document as it is. */
  warnings(tenantId: TenantId, config: StoredAgentConfig): Promise<string[]>
}

type Deps = {
  db: Db
  clock: Clock
  /** Has what callers on hold hear at hand. @throws SpeechFault when nothing usable is there. Not given: nothing is fetched. */
  keepHoldAudio?(tenantId: TenantId, url: string): Promise<void>
  /** Told of a version that speaks from now on, once that stands. Never throws, and is not waited for. */
  onPublished?(tenantId: TenantId, version: AgentVersion): void
}

export function makeAgentVersions({ db, clock, keepHoldAudio, onPublished }: Deps): AgentVersions {
  return {
    async list(tenantId, agentId, page) {
      const { rows, limit } = await listAgentVersions(db, tenantId, agentId, page)
      if (rows.length === 0) await expectTenant(db, tenantId)
      if (rows.length === 0 && agentId && !(await hasAgent(db, tenantId, agentId))) throw unknownAgent()
      return toPage(rows, limit, (row) => ({ createdAt: row.created_at, id: row.id }))
    },
    async create(tenantId, agentId, config, by) {
      await refuseFaults(db, tenantId, config)
      return db.transaction().execute((tx) => createIn(tx, clock, { tenantId, agentId, config, by }))
    },
    async replaceConfig(tenantId, versionId, { config, ifMatch }, by) {
      await refuseFaults(db, tenantId, config)
      const change = { config: withAllTexts(config), ifMatch, at: new Date(clock.now()), by }
      return db.transaction().execute((tx) => replaceConfigIn(tx, tenantId, versionId, change))
    },
    async publish(tenantId, versionId, by, ifMatch) {
      const known = await getAgentVersion(db, tenantId, versionId)
      const { status, config } = known
      // Nothing is fetched for what whoever asks has not seen.
      checkPrecondition({ ifMatch }, versionEtag(known))
      // The way back to a version that has been in use is open, whatever is at the address now.
      if (status === 'draft' && config.hold_audio) await keepHoldAudio?.(tenantId, config.hold_audio).catch(refuseHold)
      const asked = { tenantId, versionId, by, ifMatch }
      const version = await db.transaction().execute((tx) => publishIn(tx, clock, asked))
      onPublished?.(tenantId, version)
      return version
    },
    async warnings(tenantId, { tools = [] }) {
      if (tools.length === 0) return []
      // What is warned of is done by then: it is answered for, also when this cannot be found out.
      const stored = await findStoredTenant(db, tenantId).catch(() => null)
      return stored ? unknownTools(tools, stored.document.tools ?? []).map(unknownToolWarning) : []
    },
  }
}

function unknownToolWarning(name: string): string {
  return `tools names ${name}, which is no built-in tool and none of the tenant's document: the agent has none of this name until there is one.`
}

function refuseHold(error: unknown): never {
  if (!(error instanceof SpeechFault)) throw error
  throw new AppError('invalid_request', `The file at the version's hold_audio ${error.message}.`)
}

type Draft = { tenantId: TenantId; agentId: AgentId; config: AgentVersionConfig; by: Actor }

async function createIn(tx: Tx, clock: Clock, { tenantId, agentId, config, by }: Draft): Promise<AgentVersion> {
  await holdKnownTenant(tx, tenantId)
  const agent = isUuid(agentId) ? await lockAgent(tx, tenantId, agentId) : null
  if (!agent) throw unknownAgent()
  // Only now, so that of two versions the one with the higher number is the newer one.
  const now = new Date(clock.now())
  const id = newId<AgentVersionId>(now.getTime())
  const version_number = await nextVersionNumber(tx, tenantId, agentId)
  await insertDraft(tx, tenantId, {
    id,
    agent_id: agentId,
    version_number,
    config: withAllTexts(config),
    created_at: now,
    updated_at: now,
  })
  const version = await getAgentVersion(tx, tenantId, id)
  await audit(tx, { by, action: 'agent_version.created', tenantId, targetId: id, after: shown(version), at: now })
  return version
}

async function replaceConfigIn(
  tx: Tx,
  tenantId: TenantId,
  versionId: AgentVersionId,
  { config, ifMatch, at, by }: { config: StoredAgentConfig; ifMatch: string | undefined; at: Date; by: Actor },
): Promise<AgentVersion> {
  const { agent_id } = await getAgentVersion(tx, tenantId, versionId)
  await lockAgent(tx, tenantId, agent_id)
  // Read again: what was written while we waited for the lock decides.
  const before = await getAgentVersion(tx, tenantId, versionId)
  if (before.status === 'draft') checkPrecondition({ ifMatch }, versionEtag(before))
  // What its calls were worth still says what it is worth.
  if (before.status === 'draft' && versionEtag(before) === etagOf(config)) return before
  const replaced = await replaceDraftConfig(tx, tenantId, versionId, { config, at })
  const version = await getAgentVersion(tx, tenantId, versionId)
  if (!replaced) throw noDraft(version)
  const told = { before: shown(before), after: shown(version), at }
  await audit(tx, { by, action: 'agent_version.changed', tenantId, targetId: versionId, ...told })
  return version
}

/** Of what a writer says: the same config has the same tag. */
export function versionEtag({ config }: AgentVersion): string {
  return etagOf(config)
}

function noDraft({ version_number, status }: AgentVersion): AppError {
  return new AppError('conflict', `Version ${version_number} is ${status}: only a draft can be changed.`)
}

function notSimulated({ version_number }: AgentVersion): AppError {
  const what = `Version ${version_number} has passed no simulation as it is now, and its agent demands one`
  return new AppError('conflict', `${what}: run one with POST /api/v1/simulations, or set require_simulation to false.`)
}

type Publishing = { tenantId: TenantId; versionId: AgentVersionId; by: Actor; ifMatch: string | undefined }

async function publishIn(
  tx: Tx,
  clock: Clock,
  { tenantId, versionId, by, ifMatch }: Publishing,
): Promise<AgentVersion> {
  const { agent_id } = await getAgentVersion(tx, tenantId, versionId)
  const agent = await lockAgent(tx, tenantId, agent_id)
  // Read again: what was written and published while we waited for the lock decides.
  const version = await getAgentVersion(tx, tenantId, versionId)
  checkPrecondition({ ifMatch }, versionEtag(version))
  if (version.status === 'published') return version
  const now = new Date(clock.now())
  const former = await supersedePublished(tx, tenantId, agent_id, now)
  await setPublished(tx, tenantId, versionId, now)
  // Only now, because nobody can change its config any more. One that was published before is a way back, and stays one.
  const mustPass = agent?.require_simulation === true && version.status === 'draft'
  if (mustPass && !(await hasPassedSimulation(tx, tenantId, versionId))) throw notSimulated(version)
  const published = await getAgentVersion(tx, tenantId, versionId)
  const told = { before: { status: version.status }, after: { status: published.status }, at: now }
  await audit(tx, { by, action: 'agent_version.published', tenantId, targetId: versionId, ...told })
  await takeOut(tx, tenantId, agent_id, {
    leaves: (entry) => entry.agent_version_id === versionId || isLeftOver(entry, former),
    ...{ action: 'rollout.changed', by, at: now },
  })
  return published
}

/** Whether a share is from before its version was published: a release before this one left those standing. */
function isLeftOver(
  { agent_version_id, updated_at }: Pick<Rollout, 'agent_version_id' | 'updated_at'>,
  former: Pick<AgentVersion, 'id' | 'published_at'> | null,
): boolean {
  return former?.published_at != null && agent_version_id === former.id && updated_at < former.published_at
}

async function getAgentVersion(db: Db, tenantId: TenantId, versionId: AgentVersionId): Promise<AgentVersion> {
  const version = isUuid(versionId) ? await findAgentVersion(db, tenantId, versionId) : null
  if (!version) throw new AppError('not_found', 'The tenant has no such agent version.')
  return version
}

/**
 * An `extraction` that a version of the tenant has already was taken by the bounds of its time: the next version may have it, too.
 *
 * @throws AppError `invalid_request` when there are any.
 */
async function refuseFaults(db: Db, tenantId: TenantId, config: AgentVersionConfig): Promise<void> {
  const faults = agentConfigFaults(config, '/body/config')
  const isKnown = faults.length > 0 && config.extraction && (await hasExtraction(db, tenantId, config.extraction))
  const [first, ...others] = isKnown ? agentConfigFaults(config, '/body/config', config) : faults
  if (first) throw invalidRequest([first, ...others])
}

/** As the audit log tells it. */
function shown({ agent_key, version_number, config }: AgentVersion) {
  return { agent_key, version_number, config }
}
