import type { Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { lockCall } from '../records/call-directory-store.ts'
import {
  type CallRecord,
  type CallReport,
  type SessionEnd,
  withReport,
  withSessionEnd,
} from '../records/call-record.ts'
import { isOver } from '../records/call-status.ts'
import type { CallStatus, SessionId } from '../records/call-values.ts'
import { changeCall } from '../records/change-call.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'

/** A call after a report: what it is known to be now. */
export type ReportedCall = {
  sessionId: SessionId
  status: CallStatus
  isOver: boolean
  /** The call is over and its session is not: whoever has its stream shall end it. */
  isSessionOpen: boolean
}

/** Notes what a carrier reports of its calls. */
export type CallStatuses = {
  /**
   * Applies a report, as a status callback or the answer to a look-up brings it; the same ones give the same call in any order
   * and however often they come. With the end of a call whose stream never began its session ends too; of others the session
   * tells its own end, and only then the tenant is told that the call is complete.
   *
   * @returns null for a call that the tenant does not have.
   * @throws AppError `unavailable` when the database does not answer: nothing was noted.
   */
  record(tenantId: TenantId, callSid: string, report: CallReport): Promise<ReportedCall | null>
}

type Deps = {
  db: Db
  clock: Clock
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
}

const NOTHING_SAID: Omit<SessionEnd, 'endReason' | 'at'> = {
  latency: { greetingMs: null, responseP50Ms: null, responseP95Ms: null, interruptions: 0 },
  usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 },
}

export function makeCallStatuses({ db, clock, tenants }: Deps): CallStatuses {
  async function recordIn(tx: Tx, tenant: TenantRuntime, callSid: string, report: CallReport) {
    const call = await lockCall(tx, tenant.tenant_id, callSid)
    if (!call) return null
    const now = new Date(clock.now())
    const change = (record: CallRecord) => withUnbegunEnd(withReport(record, report))
    const { log, session } = await changeCall(tx, tenant, { call, now, change })
    const over = isOver(log.status)
    return {
      sessionId: session.id,
      status: log.status,
      isOver: over,
      isSessionOpen: over && session.ended_at === null,
    }
  }

  return {
    async record(tenantId, callSid, report) {
      // Asked before the transaction: the embedded database has one connection, which that owns.
      const tenant = await tenants.get(tenantId)
      return tenant && db.transaction().execute((tx) => recordIn(tx, tenant, callSid, report))
    },
  }
}

/** Ends the session of a call that is over and never had a stream: nobody else will. */
function withUnbegunEnd(record: CallRecord): CallRecord {
  const { log, session } = record
  if (!isOver(log.status) || log.ended_at === null || session.started_at !== null) return record
  const endReason = log.status === 'completed' || log.status === 'canceled' ? 'caller_hangup' : 'rejected'
  return withSessionEnd(record, { ...NOTHING_SAID, endReason, at: log.ended_at })
}
