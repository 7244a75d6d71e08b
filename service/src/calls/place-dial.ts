import type { Tx } from '../platform/db/schema.ts'
import type { CallLogRow } from '../records/call-log-store.ts'
import { LOST_AFTER_MS } from '../records/open-call-store.ts'
import { placedCall, unplacedCall } from '../records/outbound-calls.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { PlacedCall } from './dial-answer.ts'
import { type DialRow, updateDial } from './dial-store.ts'

/** A dial that nobody else changes now, its log, and the other dial that is taken to have the same call. */
export type LockedDial = { dial: DialRow; log: CallLogRow; rival: DialRow | null }

/** That the carrier has a call, and by what that is known; see `DialOutcome`. */
export type Placed = { type: 'accepted' | 'adopted' | 'found'; callSid: string }

/** Gives a dial the carrier's call. @returns null when the dial has another call, or the call belongs to another one. */
export function placeIn(
  tx: Tx,
  tenant: TenantRuntime,
  locked: LockedDial,
  { type, callSid, now }: Placed & { now: Date },
): Promise<PlacedCall | null> {
  if (type === 'found') return guessIn(tx, tenant, locked, { callSid, now })
  return locked.dial.call_sid === null
    ? nameIn(tx, tenant, locked, { state: type, callSid })
    : repeatIn(tx, tenant, locked, { state: type, callSid })
}

/** What was found is written into the log alone: a dial that has no id of its own may lose it to the carrier's word. */
async function guessIn(
  tx: Tx,
  tenant: TenantRuntime,
  { dial, log, rival }: LockedDial,
  { callSid, now }: { callSid: string; now: Date },
): Promise<PlacedCall | null> {
  if (log.call_sid !== null) return log.call_sid === callSid ? { state: dial.state, log } : null
  // Its session may be erased: then the directory does not know it any more.
  if (rival) return null
  // Its end may have been told to nobody.
  const lookAt = new Date(now.getTime() + LOST_AFTER_MS)
  const placed = await placedCall(tx, tenant, log, { callSid, lookAt })
  if (placed) await updateDial(tx, tenant.tenant_id, dial.dial_ref, { state: 'adopted' })
  return placed && { state: 'adopted', log: placed }
}

type Named = { state: 'accepted' | 'adopted'; callSid: string }

async function nameIn(
  tx: Tx,
  tenant: TenantRuntime,
  { dial, log, rival }: LockedDial,
  { state, callSid }: Named,
): Promise<PlacedCall | null> {
  const placed = log.call_sid === callSid ? log : await takeCall(tx, tenant, { dial, log, rival }, callSid)
  if (placed) await updateDial(tx, tenant.tenant_id, dial.dial_ref, { state, call_sid: callSid })
  return placed && { state, log: placed }
}

/** Takes the call from the dial that was taken to have it, and gives back the one that this dial was taken to have. */
async function takeCall(
  tx: Tx,
  tenant: TenantRuntime,
  { dial, log, rival }: LockedDial,
  callSid: string,
): Promise<CallLogRow | null> {
  const wasGuessed = log.call_sid !== null
  const free = log.call_sid === null ? log : await unplacedCall(tx, tenant, log.call_sid)
  if (!free) return null
  // Only of one that was not named by it: the carrier's word does not stand against itself.
  const isGivenBack = rival?.call_sid === null && (await unplacedCall(tx, tenant, callSid)) !== null
  if (rival && isGivenBack) await updateDial(tx, tenant.tenant_id, rival.dial_ref, { state: 'unknown' })
  // One that stays with the other dial may have been erased: then the directory does not know it any more.
  const placed = rival && !isGivenBack ? null : await placedCall(tx, tenant, free, { callSid })
  // What it was taken to have was given back, and this it does not get: it is to be looked for again.
  if (!placed && wasGuessed) await updateDial(tx, tenant.tenant_id, dial.dial_ref, { state: 'unknown' })
  return placed
}

async function repeatIn(
  tx: Tx,
  tenant: TenantRuntime,
  { dial, log }: LockedDial,
  { state, callSid }: Named,
): Promise<PlacedCall | null> {
  if (dial.call_sid !== callSid) return null
  // The carrier's own answer came after a callback of it: what it says is the first answer.
  if (state === 'accepted' && dial.state === 'adopted') {
    await updateDial(tx, tenant.tenant_id, dial.dial_ref, { state, call_sid: callSid })
  }
  return { state: state === 'accepted' ? 'accepted' : dial.state, log }
}
