import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { SignedRequest } from '../platform/telephony/port.ts'
import type { CallReport } from '../records/call-record.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { LiveCapacity } from '../voice/live-capacity.ts'
import type { LiveSessions } from '../voice/live-sessions.ts'
import type { CallbackSignatures } from './incoming-signature.ts'
import { findCallAcrossTenants } from './incoming-store.ts'
import type { CallStatuses } from './record-status.ts'

/** What a carrier tells of a call, or of its stream: then there is no report. */
export type ToldStatus = { callSid: string; accountSid: string; report: CallReport | null; signed: SignedRequest }

/** Takes what carriers tell of calls. */
export type CallStatusCallbacks = {
  /**
   * Notes it, and ends the session of a call that is over. A call that we do not know is none of our business.
   *
   * @throws AppError `unauthorized` when the request is not the carrier's, `unavailable` while the database does not answer.
   */
  take(told: ToldStatus): Promise<void>
}

type Deps = {
  db: Db
  log: Pick<Log, 'debug'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  signatures: CallbackSignatures
  statuses: CallStatuses
  live: LiveSessions
  capacity: LiveCapacity
}

export function makeCallStatusCallbacks(deps: Deps): CallStatusCallbacks {
  const { db, log, tenants, signatures, statuses, live, capacity } = deps
  return {
    async take({ callSid, accountSid, report, signed }) {
      const call = await findCallAcrossTenants(db, callSid)
      const tenant = call && (await tenants.get(call.tenantId))
      if (!tenant) {
        await signatures.expectFromAccount(accountSid, signed)
        return log.debug({ call_sid: callSid }, 'a callback for a call that is not known')
      }
      signatures.expectFrom(tenant, signed)
      const reported = report && (await statuses.record(tenant.tenant_id, callSid, report))
      if (!reported?.isOver) return
      const known = { tenantId: tenant.tenant_id, callSid }
      if (!live.hungUp(known.tenantId, callSid)) capacity.release(known)
    },
  }
}
