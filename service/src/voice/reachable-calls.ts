import { AppError } from '../kernel/errors.ts'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import type { Bus } from '../platform/bus/port.ts'
import { type LiveCalls, noSuchSession } from './live-calls.ts'
import type { LiveSessions } from './live-sessions.ts'
import { newestFirst } from './newest-first.ts'
import { askNode } from './remote-calls.ts'
import type { RemoteWatches } from './remote-watches.ts'

/** Who knows on which node a call's stream is. */
export type CallOwners = {
  /** The node that has the tenant's call with this stream; null when there is none, or it is over. */
  ownerOf(tenantId: TenantId, streamSid: string): Promise<NodeId | null>
  /** The nodes that are alive and have calls of the tenant. */
  ownersOf(tenantId: TenantId): Promise<NodeId[]>
}

type Deps = {
  bus: Bus
  nodeId: NodeId
  live: LiveSessions
  here: LiveCalls
  owners: CallOwners
  watches: RemoteWatches
}

/**
 * The tenant's live calls on all nodes: those that are not here are asked for where they are. A node that does not answer in
 * two seconds, or in a few more where a carrier has its part, is AppError `unavailable`. Without other nodes to be reached, and while
 * the database is away, the list holds those of this node.
 */
export function reachableCalls({ bus, nodeId, live, here, owners, watches }: Deps): LiveCalls {
  /** Does one thing for a call of this node, and another one for that of another. */
  async function where<T>(
    tenantId: TenantId,
    streamSid: string,
    does: { here: () => Promise<T>; there: (node: NodeId) => Promise<T> },
  ): Promise<T> {
    if (live.find(tenantId, streamSid)) return does.here()
    const owner = await owners.ownerOf(tenantId, streamSid)
    if (owner === null || owner === nodeId) throw noSuchSession()
    return does.there(owner).catch(unreachable)
  }

  /** None while the database is away, which alone knows them: whoever is asked for calls then shows those that are here. */
  async function othersOf(tenantId: TenantId): Promise<NodeId[]> {
    if (!bus.reachesOthers) return []
    const all = await owners.ownersOf(tenantId).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'unavailable') return []
      throw error
    })
    return all.filter((node) => node !== nodeId)
  }

  return {
    async list(tenantId) {
      const others = await othersOf(tenantId)
      const asked = others.map((node) => askNode(bus, node, { type: 'list', tenantId }).catch(unreachable))
      const lists = await Promise.all([here.list(tenantId), ...asked])
      return lists.flat().sort(newestFirst)
    },
    get: (tenantId, streamSid) =>
      where(tenantId, streamSid, {
        here: () => here.get(tenantId, streamSid),
        there: (node) => askNode(bus, node, { type: 'get', tenantId, streamSid }),
      }),
    act: (tenantId, streamSid, asked) =>
      where(tenantId, streamSid, {
        here: () => here.act(tenantId, streamSid, asked),
        there: (node) => askNode(bus, node, { type: 'act', tenantId, streamSid, asked }),
      }),
    events: (tenantId, streamSid, afterId) =>
      where(tenantId, streamSid, {
        here: () => here.events(tenantId, streamSid, afterId),
        there: (node) => watches.begin(node, { tenantId, streamSid, afterId }),
      }),
  }
}

/** @throws AppError: what the other node answered, or that it did not. */
function unreachable(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== 'unavailable') throw error
  const sentence = 'The node that has the call does not answer. Try again; nodes reach each other by REDIS_URL.'
  throw new AppError('unavailable', sentence, { cause: error })
}
