import type { Actor } from '../kernel/actor.ts'
import type { Clock } from '../kernel/clock.ts'
import { AppError, type FaultDetail, invalidRequest } from '../kernel/errors.ts'
import { etagOf } from '../kernel/etag.ts'
import { type AgentId, type AgentVersionId, newId, type TenantId } from '../kernel/ids.ts'
import { isUuid } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { audit } from '../tenancy/audit-log.ts'
import { holdKnownTenant } from '../tenancy/known-tenant.ts'
import { checkPrecondition } from '../tenancy/tenant-preconditions.ts'
import { hasAgent, lockAgent } from './agent-store.ts'
import { findLastRollback, type LastRollback } from './rollout-policy-store.ts'
import { hasTwoDecimals, hundredthsOf, startsOf } from './rollout-shares.ts'
import { findVersionsOf, listRollouts, type Rollout, replaceRollouts } from './rollout-store.ts'
import { unknownAgent } from './unknown-agent.ts'

/** A version and its share in percent, as they are asked for. */
export type RolloutEntry = { agent_version_id: AgentVersionId; traffic_percentage: number }

/** An agent's rollout in its order, what a write may name to go only over this one, and what it has lost last by its policy. */
export type RolloutList = { rollouts: Rollout[]; etag: string; lastRollback: LastRollback | null }

/** Which versions of an agent answer a share of its calls. */
export type Rollouts = {
  /** @throws AppError `not_found` for an unknown tenant or agent. */
  list(tenantId: TenantId, agentId: AgentId): Promise<RolloutList>
  /**
   * Puts the entries in place of the agent's rollout, as a whole. Repeating it changes nothing but times.
   *
   * @throws AppError `not_found`; `invalid_request` for shares that are no percentages or more than all calls, and for
   *   versions that are not the agent's; `conflict` when the rollout is not that of `ifMatch` any more.
   */
  replace(
    tenantId: TenantId,
    agentId: AgentId,
    wanted: { entries: RolloutEntry[]; ifMatch?: string | undefined },
    by: Actor,
  ): Promise<RolloutList>
}

export function makeRollouts({ db, clock }: { db: Db; clock: Clock }): Rollouts {
  async function replaceIn(tx: Tx, tenantId: TenantId, agentId: AgentId, { entries, ifMatch, by }: Wanted) {
    await holdKnownTenant(tx, tenantId)
    if (!(isUuid(agentId) && (await lockAgent(tx, tenantId, agentId)))) throw unknownAgent()
    const before = await listRollouts(tx, tenantId, agentId)
    expectCurrent(ifMatch, tagOf(before))
    const ids = entries.map(({ agent_version_id }) => agent_version_id)
    refuse(foreignFaults(ids, await findVersionsOf(tx, tenantId, agentId, ids.filter(isUuid))))
    const written = { before, entries, action: 'rollout.changed', by, at: new Date(clock.now()) }
    return listed(tx, tenantId, agentId, await write(tx, tenantId, agentId, written))
  }

  return {
    async list(tenantId, agentId) {
      if (!(isUuid(agentId) && (await hasAgent(db, tenantId, agentId)))) throw unknownAgent()
      return listed(db, tenantId, agentId, await listRollouts(db, tenantId, agentId))
    },
    replace(tenantId, agentId, { entries: sent, ifMatch }, by) {
      const entries = sent.map(asStored)
      refuse(shareFaults(entries))
      return db.transaction().execute((tx) => replaceIn(tx, tenantId, agentId, { entries, ifMatch, by }))
    },
  }
}

/** Which versions leave a rollout, and how the audit log calls that. */
type Leaving = { leaves(entry: Rollout): boolean; action: string; by: Actor; at: Date }

/**
 * Takes versions out of the agent's rollout, whose callers go to the published version: the others keep theirs. Returns what is left.
 * To be called with `lockAgent`.
 */
export async function takeOut(tx: Tx, tenantId: TenantId, agentId: AgentId, leaving: Leaving): Promise<Rollout[]> {
  const { leaves, action, by, at } = leaving
  const before = await listRollouts(tx, tenantId, agentId)
  const left = before.filter((entry) => !leaves(entry))
  if (left.length === before.length) return before
  return write(tx, tenantId, agentId, { before, entries: left, action, by, at })
}

/** What is to stand in place of a rollout, and how the audit log calls that. */
type Written = { before: Rollout[]; entries: RolloutEntry[]; action: string; by: Actor; at: Date }

/** Writes a rollout as a whole, and down that it was written; returns it as it is now. */
async function write(tx: Tx, tenantId: TenantId, agentId: AgentId, written: Written): Promise<Rollout[]> {
  const { before, entries, action, by, at } = written
  const starts = startsOf(entries, before)
  const rows = entries.map((entry, index) => ({ ...rowOf(entry, before, at), starts_at: starts[index] ?? null }))
  await replaceRollouts(tx, tenantId, agentId, rows)
  const after = await listRollouts(tx, tenantId, agentId)
  await audit(tx, { by, action, tenantId, targetId: agentId, before: before.map(shown), after: after.map(shown), at })
  return after
}

/** A UUID may be written in capitals, and is the same one. */
function asStored({ agent_version_id, ...share }: RolloutEntry): RolloutEntry {
  return { agent_version_id: agent_version_id.toLowerCase() as AgentVersionId, ...share }
}

type Wanted = { entries: RolloutEntry[]; ifMatch?: string | undefined; by: Actor }

async function listed(db: Db, tenantId: TenantId, agentId: AgentId, rollouts: Rollout[]): Promise<RolloutList> {
  return { rollouts, etag: tagOf(rollouts), lastRollback: await findLastRollback(db, tenantId, agentId) }
}

/** Of what a write says: the same entries have the same tag. */
function tagOf(rollouts: Rollout[]): string {
  return etagOf(rollouts.map(shown))
}

/** What a writer says of an entry, and the audit log. */
function shown({ agent_version_id, traffic_percentage }: Rollout): RolloutEntry {
  return { agent_version_id, traffic_percentage }
}

/** A stale write is a conflict here, unlike with documents. */
function expectCurrent(ifMatch: string | undefined, etag: string): void {
  try {
    checkPrecondition({ ifMatch }, etag)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'precondition_failed') throw error
    throw new AppError('conflict', 'The rollout has changed since it was read. Read it again and retry with its ETag.')
  }
}

/** A version that stays keeps its entry. */
function rowOf({ agent_version_id, traffic_percentage }: RolloutEntry, before: Rollout[], now: Date) {
  const known = before.find((entry) => entry.agent_version_id === agent_version_id)
  const id = known?.id ?? newId<string>(now.getTime())
  return { id, agent_version_id, traffic_percentage, created_at: known?.created_at ?? now, updated_at: now }
}

function shareFaults(entries: RolloutEntry[]): FaultDetail[] {
  const ids = entries.map(({ agent_version_id }) => agent_version_id)
  const faults = entries.flatMap(({ agent_version_id, traffic_percentage }, index) => [
    ...(hasTwoDecimals(traffic_percentage)
      ? []
      : [{ path: `${entryPath(index)}/traffic_percentage`, message: 'must have at most two decimals' }]),
    ...(ids.indexOf(agent_version_id) === index
      ? []
      : [{ path: `${entryPath(index)}/agent_version_id`, message: 'is named twice' }]),
  ])
  const sum = entries.reduce((total, { traffic_percentage }) => total + hundredthsOf(traffic_percentage), 0)
  if (sum > hundredthsOf(100))
    faults.push({ path: '/body/entries', message: 'must not add up to more than 100 percent' })
  return faults
}

function foreignFaults(ids: AgentVersionId[], known: Set<AgentVersionId>): FaultDetail[] {
  return ids.flatMap((id, index) =>
    known.has(id) ? [] : [{ path: `${entryPath(index)}/agent_version_id`, message: 'is not a version of this agent' }],
  )
}

function entryPath(index: number): string {
  return `/body/entries/${index}`
}

/** @throws AppError `invalid_request` when there are any. */
function refuse([first, ...others]: FaultDetail[]): void {
  if (first) throw invalidRequest([first, ...others])
}
