import type { Clock } from '../kernel/clock.ts'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import {
  type CallRecord,
  type CallReport,
  type SessionEnd,
  type SessionProgress,
  statusReport,
  withReport,
  withSessionEnd,
} from '../records/call-record.ts'
import { isOver } from '../records/call-status.ts'
import { lockRecord } from '../records/call-store.ts'
import { type SessionEndReason, STREAM_LOST } from '../records/call-values.ts'
import { changeCall } from '../records/change-call.ts'
import { costSoFar } from '../records/cost-so-far-store.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { isRefused, NOT_TAKEN, type Refusal, refusalOf } from './refusals.ts'

/** A call after a report. */
export type ReportedCall = { isOver: boolean }

/** Notes what a carrier reports of its calls. */
export type CallStatuses = {
  /**
   * Applies a report, as a status callback or the answer to a look-up brings it; the same ones give the same call in any order
   * and however often they come. With the end of a call its session ends too where nobody else will end it: the stream never
   * began, or failed to on this node. Of others the session tells its own end, and only then the tenant is told that the call
   * is complete. A call that was not taken stays as it was written down; so ends one that came in and whose stream found no room.
   *
   * @returns null for a call that the tenant does not have.
   * @throws AppError `unavailable` when the database does not answer: nothing was noted.
   */
  record(tenantId: TenantId, callSid: string, report: CallReport): Promise<ReportedCall | null>
  /**
   * Notes why nobody talks with whoever has answered a call that we asked for, so that they are not taken for reached, also where
   * its carrier has told its end before; and why a call gets no stream. A call whose stream has begun stays as it is, and so does
   * one that was given up since.
   *
   * @throws AppError `unavailable` when the database does not answer.
   */
  notTaken(tenantId: TenantId, callSid: string, { why, at }: { why: Refusal; at: Date }): Promise<void>
  /**
   * Ends a call whose stream has not begun by now and cannot any more; of any other it changes nothing.
   *
   * @throws AppError `unavailable` when the database does not answer.
   */
  cancelUnbegun(tenantId: TenantId, callSid: string): Promise<void>
}

type Deps = {
  db: Db
  clock: Clock
  nodeId: NodeId
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  /** Whether this process has the call's session, or is yet to write down its end. */
  willEnd(tenantId: TenantId, callSid: string): boolean
}

/** The session of a call in which nobody said anything. */
export const NOTHING_SAID: Omit<SessionEnd, 'endReason' | 'at'> = {
  latency: { greetingMs: null, responseP50Ms: null, responseP95Ms: null, interruptions: 0 },
  usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 },
}

export function makeCallStatuses({ db, clock, nodeId, tenants, willEnd }: Deps): CallStatuses {
  async function recordIn(tx: Tx, tenant: TenantRuntime, callSid: string, report: CallReport) {
    const locked = await lockRecord(tx, tenant.tenant_id, callSid)
    if (!locked) return null
    if (isRefused(locked.before)) return { isOver: true }
    const isLost = locked.call.owner === nodeId && !willEnd(tenant.tenant_id, callSid)
    const lost = isLost ? { ...NOTHING_SAID, ...(await costSoFar(tx, locked.before)) } : null
    const change = (record: CallRecord) => withOpenEnd(withReport(record, asNotTaken(record, report)), lost)
    const { log } = await changeCall(tx, tenant, { ...locked, now: new Date(clock.now()), change })
    return { isOver: isOver(log.status) }
  }

  async function notTakenIn(tx: Tx, tenant: TenantRuntime, callSid: string, noted: { why: Refusal; at: Date }) {
    const locked = await lockRecord(tx, tenant.tenant_id, callSid)
    if (!locked || locked.before.session.started_at !== null) return
    // The note comes late: one that came in is written down as it ended, and one that went elsewhere was not reached by that.
    const { log, session } = locked.before
    if (log.error_code === STREAM_LOST || (log.direction === 'inbound' && session.ended_at !== null)) return
    const change = (record: CallRecord) => withNoAgent(record, noted)
    await changeCall(tx, tenant, { ...locked, now: new Date(clock.now()), change })
  }

  async function cancelIn(tx: Tx, tenant: TenantRuntime, callSid: string): Promise<void> {
    const locked = await lockRecord(tx, tenant.tenant_id, callSid)
    if (locked?.call.owner !== null) return
    const now = new Date(clock.now())
    const change = (record: CallRecord) => withOpenEnd(withReport(record, statusReport('canceled', now)), null)
    await changeCall(tx, tenant, { ...locked, now, change })
  }

  return {
    async record(tenantId, callSid, report) {
      // Asked before the transaction: the embedded database has one connection, which that owns.
      const tenant = await tenants.get(tenantId)
      return tenant && db.transaction().execute((tx) => recordIn(tx, tenant, callSid, report))
    },
    async notTaken(tenantId, callSid, noted) {
      const tenant = await tenants.get(tenantId)
      if (tenant) await db.transaction().execute((tx) => notTakenIn(tx, tenant, callSid, noted))
    },
    async cancelUnbegun(tenantId, callSid) {
      const tenant = await tenants.get(tenantId)
      if (tenant) await db.transaction().execute((tx) => cancelIn(tx, tenant, callSid))
    },
  }
}

/** Ends the session of a call that is over, if it never had a stream or this node lost it (`lost`: what is known of it): nobody else will. */
function withOpenEnd(record: CallRecord, lost: SessionProgress | null): CallRecord {
  const { log, session } = record
  if (!isOver(log.status) || log.ended_at === null) return record
  if (session.started_at === null)
    return withSessionEnd(record, { ...NOTHING_SAID, endReason: unbegunReason(log), at: log.ended_at })
  return lost ? withSessionEnd(record, { ...lost, endReason: 'carrier_lost', at: log.ended_at }) : record
}

/** Whoever found no room, and hangs up before they are told so, has not been taken either: nobody has talked with them. */
function asNotTaken({ log, session }: CallRecord, report: CallReport): CallReport {
  const isOpen = log.direction === 'inbound' && session.started_at === null && session.ended_at === null
  const why = isOpen ? refusalOf(log.error_code) : null
  if (why === null || report.status === null || !isOver(report.status)) return report
  return { ...report, status: NOT_TAKEN[why].status, durationSeconds: null }
}

/** What was taken for a hang-up by whoever answered was our sentence. */
function withNoAgent(record: CallRecord, { why, at }: { why: Refusal; at: Date }): CallRecord {
  const report = { ...statusReport(null, at), errorCode: why, errorMessage: NOT_TAKEN[why].reason }
  const { log, session } = withReport(record, report)
  return { log, session: session.end_reason === 'caller_hangup' ? { ...session, end_reason: 'rejected' } : session }
}

/** Who was answered, and hears that nobody can talk, does not hang up of their own accord. */
function unbegunReason({ status, direction, error_code }: CallRecord['log']): SessionEndReason {
  if (refusalOf(error_code) !== null) return 'rejected'
  if (error_code === STREAM_LOST) return 'carrier_lost'
  // Whom we ring has not hung up when it is we who stop.
  const isGivenUp = status === 'canceled' && direction !== 'outbound'
  return status === 'completed' || isGivenUp ? 'caller_hangup' : 'rejected'
}
