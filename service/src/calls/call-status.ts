import { type Clock, withTimeout } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { SignedRequest } from '../platform/telephony/port.ts'
import type { CallReport } from '../records/call-record.ts'
import { isOver } from '../records/call-status.ts'
import { isDatabaseTrouble } from '../records/database-trouble.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { LiveCapacity } from '../voice/live-capacity.ts'
import type { LiveSessions } from '../voice/live-sessions.ts'
import type { CallbackSignatures } from './incoming-signature.ts'
import { findCallAcrossTenants } from './incoming-store.ts'
import type { LateReport, LateReports } from './late-reports.ts'
import type { CallStatuses, ReportedCall } from './record-status.ts'

/** What a carrier tells of a call, or of its stream: then there is no report, and `streamError` where that was lost or never came to be. */
export type ToldStatus = {
  callSid: string
  accountSid: string
  report: CallReport | null
  streamError?: string
  signed: SignedRequest
}

/** Takes what carriers tell of calls. */
export type CallStatusCallbacks = {
  /**
   * Notes it, and ends the session of a call that is over. A call that we do not know is none of our business. What is told of a
   * call on this node is taken while the database is away too, once it is on the disk, and its session ends at once.
   *
   * @throws AppError `unauthorized` when the request is not the carrier's, `unavailable` when it could not be noted: the carrier
   * is to come again.
   */
  take(told: ToldStatus): Promise<void>
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'debug' | 'warn'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  signatures: CallbackSignatures
  statuses: CallStatuses
  late: Pick<LateReports, 'take'>
  live: LiveSessions
  capacity: LiveCapacity
}

/** Of a call on this node: then the report is taken all the same. Carriers wait for 15 s. */
const DATABASE_WITHIN_MS = 3_000
const STREAM_FAILED = 'the carrier could not open the stream of a call, or lost it'

export function makeCallStatusCallbacks(deps: Deps): CallStatusCallbacks {
  const { db, clock, log, tenants, signatures, statuses, late, live, capacity } = deps

  function hangUp(tenantId: TenantId, callSid: string): void {
    if (!live.hungUp(tenantId, callSid)) capacity.release({ tenantId, callSid })
  }

  /** Of a call that is on this node. */
  async function noteHere(told: LateReport): Promise<ReportedCall | null> {
    const { tenantId, callSid, report } = told
    const away = () => new AppError('unavailable', 'The database is not reachable. Try again.')
    try {
      return await withTimeout(clock, statuses.record(tenantId, callSid, report), DATABASE_WITHIN_MS, away)
    } catch (err) {
      if (!isDatabaseTrouble(err)) throw err
      if (report.status !== null && isOver(report.status)) hangUp(tenantId, callSid)
      if (!(await late.take(told))) throw away()
      return null
    }
  }

  return {
    async take({ callSid, accountSid, report, streamError, signed }) {
      signatures.expectSigned(signed)
      const here = live.callHere(callSid)
      const call = here ?? (await findCallAcrossTenants(db, callSid))
      const tenant = call && (await tenants.get(call.tenantId))
      if (!tenant) {
        await signatures.expectFromAccount(accountSid, signed)
        return log.debug({ call_sid: callSid }, 'a callback for a call that is not known')
      }
      signatures.expectFrom(tenant, signed)
      const { tenant_id: tenantId } = tenant
      // What a carrier could not reach has seen nothing of it: nobody else knows why.
      if (streamError) log.warn({ tenant_id: tenantId, call_sid: callSid, stream_error: streamError }, STREAM_FAILED)
      if (!report) return
      const reported = await (here
        ? noteHere({ tenantId, callSid, report })
        : statuses.record(tenantId, callSid, report))
      if (reported?.isOver) hangUp(tenantId, callSid)
    },
  }
}
