import type { Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import {
  type CallRecord,
  type CallReport,
  type SessionProgress,
  withReport,
  withSessionEnd,
} from '../records/call-record.ts'
import { isOver } from '../records/call-status.ts'
import { lockRecord } from '../records/call-store.ts'
import { changeCall } from '../records/change-call.ts'
import { costSoFar } from '../records/cost-so-far-store.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { NOTHING_SAID } from './record-status.ts'

/** A call as it was when somebody found that nobody will end it. */
export type LostCall = { tenantId: TenantId; callSid: string; epoch: number }

/**
 * Ends a call whose process is gone, and the session with it: `process_lost`, with the call log and the events as at any end.
 * What was said is kept as far as it was written, and so is what that has cost; how fast the agent was is not known any more. `report`
 * is how the call ended, null when that is known already. A call that has another stream since then, or has ended, stays as it is.
 *
 * @throws AppError `unavailable` when the database does not answer.
 */
export type EndLostCall = (call: LostCall, report: CallReport | null) => Promise<void>

type Deps = {
  db: Db
  clock: Clock
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
}

export function makeEndLostCall({ db, clock, tenants }: Deps): EndLostCall {
  return async ({ tenantId, callSid, epoch }, report) => {
    // Asked before the transaction: the embedded database has one connection, which that owns.
    const tenant = await tenants.get(tenantId)
    if (!tenant) return
    const now = new Date(clock.now())
    await db.transaction().execute(async (tx) => {
      const locked = await lockRecord(tx, tenantId, callSid)
      if (locked?.call.epoch !== epoch) return
      const known = { ...NOTHING_SAID, ...(await costSoFar(tx, locked.before)) }
      await changeCall(tx, tenant, { ...locked, now, change: (record) => ended(record, report, { known, now }) })
    })
  }
}

function ended(
  record: CallRecord,
  report: CallReport | null,
  { known, now }: { known: SessionProgress; now: Date },
): CallRecord {
  const reported = report ? withReport(record, report) : record
  const { log } = reported
  if (!isOver(log.status)) return record
  return withSessionEnd(reported, { ...known, endReason: 'process_lost', at: log.ended_at ?? now })
}
