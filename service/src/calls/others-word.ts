import type { NodeId, TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { LiveSessions } from '../voice/live-sessions.ts'
import type { LetGo } from './let-go.ts'
import { overCallsAcrossTenants, takenCallsAcrossTenants } from './orphaned-calls-store.ts'

type Call = { tenantId: TenantId; callSid: string }

/**
 * Does what follows from what other nodes have written down of these calls of this one: lets go of those that another node has by now, or is
 * about to have, and ends those that are over by the word of their carrier, or of a node that could not go on with them, where they have no
 * stream any more that would say so. None of them is on its way to another node by this node's own doing.
 *
 * @throws AppError `unavailable` when the database does not answer.
 */
export type HeedOthers = (calls: Call[]) => Promise<void>

type Deps = {
  vital: Db
  log: Pick<Log, 'warn'>
  nodeId: NodeId
  live: Pick<LiveSessions, 'findCall' | 'hungUp'>
  letGo: LetGo
}

export function makeHeedOthers({ vital, log, nodeId, live, letGo }: Deps): HeedOthers {
  const idsOf = (calls: Call[]) => calls.map(({ callSid }) => callSid)

  return async (calls) => {
    const here = new Map(calls.map(({ callSid, tenantId }) => [callSid, tenantId]))
    for (const { callSid, epoch } of await takenCallsAcrossTenants(vital, nodeId, idsOf(calls))) {
      const tenantId = here.get(callSid)
      if (tenantId === undefined) continue
      log.warn({ tenant_id: tenantId, call_sid: callSid }, 'a call was taken by another node')
      letGo(tenantId, callSid, epoch)
    }
    const silent = calls.filter(({ tenantId, callSid }) => live.findCall(tenantId, callSid)?.phase === 'detached')
    for (const { tenantId, callSid, isLost } of await overCallsAcrossTenants(vital, idsOf(silent)))
      live.hungUp(tenantId, callSid, isLost)
  }
}
