import type { Db, Tx } from '../platform/db/schema.ts'
import { CarrierError } from '../platform/telephony/port.ts'
import { type CallLogRow, findCallLogById } from '../records/call-log-store.ts'
import { doubtedCall, failedCall, placedCall, type SubmissionFault } from '../records/outbound-calls.ts'
import { holdKnownTenant } from '../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { PlacedCall } from './dial-answer.ts'
import { type DialRow, lockDial, updateDial } from './dial-store.ts'

/**
 * What became of a dial: the carrier answered with the call's id (`accepted`), or the id was seen elsewhere (`adopted`); it
 * is not known; or the carrier does not have it.
 */
export type DialOutcome =
  | { type: 'accepted' | 'adopted'; callSid: string }
  | { type: 'unknown' }
  | ({ type: 'failed' } & SubmissionFault)

/** What a request that the carrier did not answer with a call means for the dial. */
export function outcomeOf(error: unknown): DialOutcome {
  if (!(error instanceof CarrierError) || error.kind === 'unknown') return { type: 'unknown' }
  const { kind, code, message } = error
  return { type: 'failed', code: `carrier_${kind}`, reason: code === null ? message : `${message} (${code})` }
}

/**
 * Writes down what became of a dial, whoever has found out, in one transaction of its own. The carrier's word that it has the
 * call stands against everything else, early or late; what is known is not forgotten for what is not.
 *
 * @returns the call as it is now; null for an unknown dial, and for an id that belongs to another call.
 * @throws AppError `unavailable` when the database does not answer, `not_found` for a deleted tenant.
 */
export async function settleDial(
  db: Db,
  tenant: TenantRuntime,
  dialRef: string,
  settled: { outcome: DialOutcome; now: Date },
): Promise<PlacedCall | null> {
  return db.transaction().execute(async (tx) => {
    await holdKnownTenant(tx, tenant.tenant_id)
    const dial = await lockDial(tx, tenant.tenant_id, dialRef)
    const log = dial && (await findCallLogById(tx, tenant.tenant_id, dial.call_log_id))
    return log && settleIn(tx, tenant, { dial, log }, settled)
  })
}

type Locked = { dial: DialRow; log: CallLogRow }

async function settleIn(
  tx: Tx,
  tenant: TenantRuntime,
  { dial, log }: Locked,
  { outcome, now }: { outcome: DialOutcome; now: Date },
): Promise<PlacedCall | null> {
  const { state } = dial
  if ('callSid' in outcome) return placeIn(tx, tenant, { dial, log }, outcome)
  if (state !== 'dialing' && state !== 'unknown') return { state, log }
  await updateDial(tx, tenant.tenant_id, dial.dial_ref, { state: outcome.type })
  const isUnknown = outcome.type === 'unknown'
  const after = isUnknown ? doubtedCall(tx, tenant, log) : failedCall(tx, tenant, log, { ...outcome, at: now })
  return { state: outcome.type, log: await after }
}

async function placeIn(
  tx: Tx,
  tenant: TenantRuntime,
  { dial, log }: Locked,
  { type: state, callSid }: { type: 'accepted' | 'adopted'; callSid: string },
): Promise<PlacedCall | null> {
  const change = (to: typeof state) => updateDial(tx, tenant.tenant_id, dial.dial_ref, { state: to, call_sid: callSid })
  if (dial.call_sid !== null) {
    if (dial.call_sid !== callSid) return null
    // The carrier's own answer came after a callback of it: what it says is the first answer.
    if (state === 'accepted' && dial.state === 'adopted') await change('accepted')
    return { state: state === 'accepted' ? 'accepted' : dial.state, log }
  }
  const placed = await placedCall(tx, tenant, log, callSid)
  if (!placed) return null
  await change(state)
  return { state, log: placed }
}
