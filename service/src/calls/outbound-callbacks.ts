import type { Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { SignedRequest } from '../platform/telephony/port.ts'
import { machineOf } from '../records/answered-by.ts'
import { isOver } from '../records/call-status.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { LiveCapacity } from '../voice/live-capacity.ts'
import type { LiveSessions } from '../voice/live-sessions.ts'
import type { CallStatusCallbacks, ToldStatus } from './call-status.ts'
import { findDiallerAcrossTenants } from './dial-store.ts'
import type { CallbackSignatures } from './incoming-signature.ts'
import type { MachineCalls } from './machine-calls.ts'
import { settleDial } from './settle-dial.ts'

/** What a carrier asks or tells about a call that it was asked for. */
export type OfDial = { dialRef: string; callSid: string; signed: SignedRequest }

/** Whose dial it is, and whether the call is the one that it asked for, as far as one was named. */
export type AdoptedCall = { tenant: TenantRuntime; isItsCall: boolean }

/** Takes what carriers tell of calls that were asked for. */
export type OutboundCallbacks = {
  /**
   * Notes that the carrier has the call, whenever that becomes known.
   *
   * @returns null for a dial that we do not know, of which nothing was checked.
   * @throws AppError `unauthorized` when the request is not the carrier's, `unavailable` while the database does not answer.
   */
  adopt(of: OfDial): Promise<AdoptedCall | null>
  /**
   * Notes what is told, and lets a live call know that a machine answered it.
   *
   * @throws AppError as `adopt`.
   */
  take(told: ToldStatus & OfDial): Promise<void>
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  signatures: CallbackSignatures
  statuses: CallStatusCallbacks
  machines: Pick<MachineCalls, 'answered'>
  live: Pick<LiveSessions, 'callHere'>
  capacity: Pick<LiveCapacity, 'rang'>
}

export function makeOutboundCallbacks(deps: Deps): OutboundCallbacks {
  const { db, clock, log, tenants, signatures, statuses, machines, live, capacity } = deps

  async function adopt({ dialRef, callSid, signed }: OfDial): Promise<AdoptedCall | null> {
    signatures.expectSigned(signed)
    const tenantId = await findDiallerAcrossTenants(db, dialRef)
    const tenant = tenantId && (await tenants.get(tenantId))
    if (!tenant) return null
    signatures.expectFrom(tenant, signed)
    if (callSid === '') return { tenant, isItsCall: true }
    const outcome = { type: 'adopted' as const, callSid }
    const placed = await settleDial(db, tenant, dialRef, { outcome, now: new Date(clock.now()) })
    if (!placed)
      log.warn({ tenant_id: tenantId, call_sid: callSid }, 'a carrier has two calls for one that was asked for')
    return { tenant, isItsCall: placed !== null }
  }

  return {
    adopt,
    async take(told) {
      // A call that is here is known, also while the database is away.
      const tenantId = live.callHere(told.callSid)?.tenantId ?? (await adopt(told))?.tenant.tenant_id
      await statuses.take(told)
      // The result of detection alone comes without a status: the others repeat it.
      const { report, callSid, dialRef } = told
      if (report && report.status !== null && isOver(report.status)) capacity.rang(dialRef)
      const kind = report?.status === null ? machineOf(report.answeredBy) : null
      if (tenantId && kind !== null) machines.answered(tenantId, callSid, kind)
    },
  }
}
