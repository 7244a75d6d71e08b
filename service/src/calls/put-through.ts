import type { Clock } from '../kernel/clock.ts'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import { cancelMissedCall } from '../operators/missed-calls.ts'
import type { Db } from '../platform/db/schema.ts'
import { type DirectoryRow, giveUpCall } from '../records/call-directory-store.ts'
import { isHeldBy } from '../records/call-holder.ts'
import { type CallRecord, type CallReport, withReport, withSessionEnd } from '../records/call-record.ts'
import { lockRecord } from '../records/call-store.ts'
import { changeCall } from '../records/change-call.ts'
import { costSoFar } from '../records/cost-so-far-store.ts'
import type { HeldCall } from '../records/resuming.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { NOTHING_SAID } from './record-status.ts'
import { isRefused, withServed } from './refusals.ts'

/**
 * Writes down that a call goes on without us, at another number: its session ends (`transferred`), and whoever still has it,
 * on whatever node, can neither write about it nor end it any more. How the call itself ends, its carrier tells. A session that
 * has ended already stays as it is, but of a call that was not taken it is known now that somebody has, and that nobody is to be called back. `report`: why it goes on
 * there, noted where that ends its session.
 *
 * @throws AppError `unavailable` when the database does not answer.
 */
export type PutThrough = (tenant: TenantRuntime, callSid: string, report?: CallReport) => Promise<void>

type Deps = { db: Db; clock: Clock }

export function makePutThrough(deps: Deps): PutThrough {
  return (tenant, callSid, report) => inOneStep(deps, tenant, { callSid, report, isTrue: () => true })
}

/** `tenants`: finds a tenant as it is now, which may not be how its call began. */
type OwnDeps = Deps & { nodeId: NodeId; tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> } }

/**
 * As `PutThrough`, by the word of the node whose stream has the call: one that is not that stream's any more has come back, to another
 * node or by a newer stream.
 */
export type OwnPutThrough = (tenant: TenantRuntime, call: HeldCall) => Promise<void>

export function makeOwnPutThrough({ nodeId, tenants, ...deps }: OwnDeps): OwnPutThrough {
  return async (tenant, { callSid, ...holder }) => {
    const isTrue = (row: DirectoryRow) => row.owner === nodeId && isHeldBy(row, holder)
    // Asked before the transaction: the embedded database has one connection, which that owns.
    const present = (await tenants.get(tenant.tenant_id)) ?? tenant
    return inOneStep(deps, present, { callSid, isTrue })
  }
}

type Word = { callSid: string; report?: CallReport | undefined; isTrue: (row: DirectoryRow) => boolean }

function inOneStep({ db, clock }: Deps, tenant: TenantRuntime, { callSid, report, isTrue }: Word): Promise<void> {
  return db.transaction().execute(async (tx) => {
    const locked = await lockRecord(tx, tenant.tenant_id, callSid)
    if (!locked || !isTrue(locked.call)) return
    await giveUpCall(tx, tenant.tenant_id, callSid)
    const now = new Date(clock.now())
    const known = { ...NOTHING_SAID, ...(await costSoFar(tx, locked.before)) }
    const end = { ...known, endReason: 'transferred' as const, at: now }
    const change = (record: CallRecord) => {
      if (isRefused(record)) return withServed(record)
      const isEnd = record.session.ended_at === null
      return withSessionEnd(report && isEnd ? withReport(record, report) : record, end)
    }
    await changeCall(tx, tenant, { ...locked, now, change })
    if (isRefused(locked.before)) await cancelMissedCall(tx, tenant, callSid, now)
  })
}
