import { reviveDispatch } from '../operators/revive-dispatch.ts'
import { againWhenRefused } from '../platform/db/again.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { waitBriefly } from '../platform/db/short-waits.ts'
import { CarrierError } from '../platform/telephony/port.ts'
import { type CallLogRow, findCallLogById } from '../records/call-log-store.ts'
import { doubtedCall, failedCall, isMendedByTime, type SubmissionFault } from '../records/outbound-calls.ts'
import { holdKnownTenant } from '../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { reviveContact } from './campaigns/revive-contact.ts'
import type { PlacedCall } from './dial-answer.ts'
import { lockDials, updateDial } from './dial-store.ts'
import { freeKeyOf } from './idempotency-store.ts'
import { type LockedDial, type Placed, placeIn } from './place-dial.ts'

/**
 * What became of a dial: the carrier answered with the call's id (`accepted`), or named the dial by it (`adopted`), or a call
 * was found that must be this one (`found`), which is a guess; it is not known; or the carrier does not have it.
 */
export type DialOutcome = Placed | { type: 'unknown' } | ({ type: 'failed' } & SubmissionFault)

/** What a request that the carrier did not answer with a call means for the dial. */
export function outcomeOf(error: unknown): DialOutcome {
  if (!(error instanceof CarrierError) || error.kind === 'unknown') return { type: 'unknown' }
  const { kind, code, message } = error
  return { type: 'failed', code: `carrier_${kind}`, reason: code === null ? message : `${message} (${code})` }
}

/**
 * Writes down what became of a dial, whoever has found out, in one transaction of its own. The carrier's word that it has the
 * call stands against everything else, early or late, and against what was only found; what is known is not forgotten for
 * what is not. `waitsBriefly`: for who works for all tenants, and comes again.
 *
 * @returns the call as it is now; null for an unknown dial, and for an id that belongs to another call.
 * @throws AppError `unavailable` when the database does not answer, `not_found` for a deleted tenant.
 */
export async function settleDial(
  db: Db,
  tenant: TenantRuntime,
  dialRef: string,
  { waitsBriefly = false, ...settled }: { outcome: DialOutcome; now: Date; waitsBriefly?: boolean },
): Promise<PlacedCall | null> {
  const callSid = 'callSid' in settled.outcome ? settled.outcome.callSid : null
  const lockedIn = async (tx: Tx) => {
    if (waitsBriefly) await waitBriefly(tx)
    await holdKnownTenant(tx, tenant.tenant_id)
    const { dial = null, rival = null } = (await lockDials(tx, tenant.tenant_id, dialRef, callSid)) ?? {}
    const log = dial && (await findCallLogById(tx, tenant.tenant_id, dial.call_log_id))
    return dial && log ? settleIn(tx, tenant, { dial, log, rival }, settled) : null
  }
  // Whoever erases a number locks its calls before their dials.
  const settledNow = () => againWhenRefused(() => db.transaction().execute(lockedIn))
  const placed = await settledNow()
  // While it waited for others, the call may have gone to a dial that it did not look at: what is stored by now says to which.
  return placed === null && callSid !== null ? settledNow() : placed
}

async function settleIn(
  tx: Tx,
  tenant: TenantRuntime,
  { dial, log, rival }: LockedDial,
  { outcome, now }: { outcome: DialOutcome; now: Date },
): Promise<PlacedCall | null> {
  const { state } = dial
  if ('callSid' in outcome) {
    const placed = await placeIn(tx, tenant, { dial, log, rival }, { ...outcome, now })
    const wasCounted = !isMendedByTime(log.error_code)
    if (placed && state === 'failed') await reviveIn(tx, tenant, placed.log, { wasCounted, now })
    return placed
  }
  if (state !== 'dialing' && state !== 'unknown') return { state, log }
  await updateDial(tx, tenant.tenant_id, dial.dial_ref, { state: outcome.type })
  const isUnknown = outcome.type === 'unknown'
  // The same request may succeed another time: its key shall not bring back this answer for a day.
  if (!isUnknown && isMendedByTime(outcome.code)) await freeKeyOf(tx, tenant.tenant_id, dial.dial_ref)
  const after = isUnknown ? doubtedCall(tx, tenant, log) : failedCall(tx, tenant, log, { ...outcome, at: now })
  return { state: outcome.type, log: await after }
}

/**
 * The call was given up, and goes on after all: so does what it was placed for, lest the same person is called again. `wasCounted`:
 * it was taken for an attempt all the same.
 */
async function reviveIn(
  tx: Tx,
  tenant: TenantRuntime,
  { id: callLogId, call_sid: callSid }: CallLogRow,
  { wasCounted, now }: { wasCounted: boolean; now: Date },
): Promise<void> {
  await reviveDispatch(tx, tenant, { callLogId, callSid, wasCounted }, now)
  await reviveContact(tx, tenant.tenant_id, { callLogId, wasCounted, now })
}
