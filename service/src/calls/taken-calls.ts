import type { NodeId, TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { LetGo } from './let-go.ts'
import { takenCallsAcrossTenants } from './orphaned-calls-store.ts'

/**
 * Lets go of those of these calls that another node has by now, or is about to have. None of them is on its way there by this node's own doing.
 *
 * @throws AppError `unavailable` when the database does not answer.
 */
export type LetGoOfTaken = (calls: { tenantId: TenantId; callSid: string }[]) => Promise<void>

type Deps = { vital: Db; log: Pick<Log, 'warn'>; nodeId: NodeId; letGo: LetGo }

export function makeLetGoOfTaken({ vital, log, nodeId, letGo }: Deps): LetGoOfTaken {
  return async (calls) => {
    const here = new Map(calls.map(({ callSid, tenantId }) => [callSid, tenantId]))
    for (const { callSid, epoch } of await takenCallsAcrossTenants(vital, nodeId, [...here.keys()])) {
      const tenantId = here.get(callSid)
      if (tenantId === undefined) continue
      log.warn({ tenant_id: tenantId, call_sid: callSid }, 'a call was taken by another node')
      letGo(tenantId, callSid, epoch)
    }
  }
}
