import type { Clock } from '../kernel/clock.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import { isStreamPromised } from '../records/call-resume-store.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { CarrierRequests } from './carrier-requests.ts'
import { isStillOrphaned, type OrphanedCall } from './orphaned-calls-store.ts'

/**
 * What became of a call that its carrier was to send to call-resume. `refused`: the carrier says that it is over, or knows it
 * not; `taken`: another stream has it by now; `coming`: its carrier has asked by itself, and was promised one.
 */
export type SentBack = 'sent' | 'taken' | 'coming' | 'refused' | 'failed'

/**
 * Makes the carrier of a call that nobody has ask what comes next for it, in three tries of five seconds at most.
 *
 * @throws AppError `unavailable` when the database does not answer.
 */
export type SendCallBack = (tenant: TenantRuntime, call: OrphanedCall) => Promise<SentBack>

type Deps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
  requests: CarrierRequests
  /** The address of call-resume, as the carrier reaches it. */
  resumeUrl: () => string
}

const PAUSES_MS = [500, 2_000]

export function makeSendCallBack({ db, clock, log, requests, resumeUrl }: Deps): SendCallBack {
  return async (tenant, call) => {
    for (let tries = 0; !requests.isClosed; tries += 1) {
      // The carrier may have come by itself meanwhile: its new stream would be cut, also one that has not begun yet.
      if (!(await isStillOrphaned(db, call))) return 'taken'
      if (await isStreamPromised(db, call.tenantId, call.callSid, new Date(clock.now()))) return 'coming'
      const outcome = await requests.make(tenant, (carrier, account, signal) =>
        carrier.updateCall(account, call.callSid, { verbs: [{ type: 'redirect', url: resumeUrl() }] }, signal),
      )
      if (outcome.type === 'done') return 'sent'
      if (outcome.type === 'refused') return 'refused'
      const pauseMs = outcome.type === 'failed' ? PAUSES_MS[tries] : undefined
      log.warn({ call_sid: call.callSid, ...outcome }, 'a call could not be sent to another node')
      if (pauseMs === undefined) return 'failed'
      await requests.pause(pauseMs)
    }
    return 'failed'
  }
}
