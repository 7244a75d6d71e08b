import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { CallVerb, SignedRequest } from '../platform/telephony/port.ts'
import { DEFAULT_CARRIER } from '../platform/telephony/registry.ts'
import { statusReport } from '../records/call-record.ts'
import { isOver } from '../records/call-status.ts'
import type { SessionId } from '../records/call-values.ts'
import { findVoiceSession } from '../records/voice-session-store.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { LiveCapacity } from '../voice/live-capacity.ts'
import type { LiveSessions } from '../voice/live-sessions.ts'
import { sayAndGo } from './hang-up.ts'
import type { CarrierAnswer } from './incoming.ts'
import type { CallbackSignatures } from './incoming-signature.ts'
import { findCallAcrossTenants } from './incoming-store.ts'
import type { CallStatuses } from './record-status.ts'

/** A carrier that asks what comes next for a call. */
export type ResumedCall = { callSid: string; accountSid: string; signed: SignedRequest }

const HANG_UP: CallVerb[] = [{ type: 'hangup' }]
const SORRY = 'We are sorry, the call cannot go on. Please call again later. Goodbye.'

/** Says what comes next for a call of ours whose stream is over. */
export type CallResume = {
  /**
   * The end, for a call whose conversation is over; for one that never had any, or lost it, the tenant's fallback number, or
   * a sentence and the end.
   *
   * @throws AppError `unauthorized` when the request is not the carrier's, and for nothing else.
   */
  next(call: ResumedCall): Promise<CarrierAnswer>
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn' | 'error'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  signatures: CallbackSignatures
  live: LiveSessions
  capacity: LiveCapacity
  statuses: CallStatuses
}

export function makeCallResume({ db, clock, log, tenants, signatures, live, capacity, statuses }: Deps): CallResume {
  async function next({ callSid, accountSid, signed }: ResumedCall): Promise<CarrierAnswer> {
    const call = await findCallAcrossTenants(db, callSid)
    const tenant = call && (await tenants.get(call.tenantId))
    if (!tenant) {
      await signatures.expectFromAccount(accountSid, signed)
      return { provider: DEFAULT_CARRIER, verbs: HANG_UP }
    }
    signatures.expectFrom(tenant, signed)
    const { provider } = tenant.telephony
    if (await isFinished(tenant, callSid, call.sessionId)) return { provider, verbs: HANG_UP }
    log.warn({ tenant_id: tenant.tenant_id, call_sid: callSid }, 'a call has no stream any more')
    capacity.release(callSid)
    return { provider, verbs: await apologise(tenant, callSid) }
  }

  /** A session that is still here is on its way to its end: its stream would not be over else. */
  async function isFinished({ tenant_id: tenantId }: TenantRuntime, callSid: string, id: SessionId): Promise<boolean> {
    if (live.findCall(tenantId, callSid)) return true
    const session = await findVoiceSession(db, tenantId, id)
    return session === null || session.ended_at !== null || isOver(session.call_status)
  }

  async function apologise(tenant: TenantRuntime, callSid: string): Promise<CallVerb[]> {
    const { fallback_number: number } = tenant.telephony
    // Without a number the call ends with the sentence: not every number tells us so.
    if (number === null)
      await statuses.record(tenant.tenant_id, callSid, statusReport('completed', new Date(clock.now())))
    return sayAndGo(SORRY, number)
  }

  return {
    async next(call) {
      try {
        return await next(call)
      } catch (err) {
        if (err instanceof AppError && err.code === 'unauthorized') throw err
        log.error({ err, call_sid: call.callSid }, 'it could not be found out what comes next for a call')
        return { provider: DEFAULT_CARRIER, verbs: sayAndGo(SORRY, null) }
      }
    },
  }
}
