import type { Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { SignedRequest } from '../platform/telephony/port.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { findDiallerAcrossTenants } from './dial-store.ts'
import type { CallbackSignatures } from './incoming-signature.ts'
import { settleDial } from './settle-dial.ts'

/** What a carrier asks or tells about a call that it was asked for. */
export type OfDial = { dialRef: string; callSid: string; signed: SignedRequest }

/** Whose dial it is, and whether the call is the one that it asked for, as far as one was named. */
export type AdoptedCall = { tenant: TenantRuntime; isItsCall: boolean }

/**
 * Notes that the carrier has the call, whenever that becomes known.
 *
 * @returns null for a dial that we do not know, of which nothing was checked.
 * @throws AppError `unauthorized` when the request is not the carrier's, `unavailable` while the database does not answer.
 */
export type AdoptDial = (of: OfDial) => Promise<AdoptedCall | null>

export type AdoptDeps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  signatures: Pick<CallbackSignatures, 'expectSigned' | 'expectFrom'>
}

export function makeAdoptDial({ db, clock, log, tenants, signatures }: AdoptDeps): AdoptDial {
  return async ({ dialRef, callSid, signed }) => {
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
}
