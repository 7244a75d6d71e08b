import { enqueue, wantsEvent } from '../delivery/enqueue.ts'
import type { Tx } from '../platform/db/schema.ts'
import { holdEpochsAcrossTenants, holdTenantsAcrossTenants } from './call-directory-store.ts'
import type { JournalEntry, JournaledCall } from './journal-entry.ts'
import {
  deleteTurnsAcrossTenants,
  putFunctionCallsAcrossTenants,
  putTurnsAcrossTenants,
  type TurnKey,
} from './transcript-store.ts'
import { showTurn } from './voice-session-shape.ts'

type TurnEntry = Extract<JournalEntry, { type: 'turn' }>

/**
 * Writes entries of any calls, no two of one key. To write them again changes nothing. What comes from a stream that has lost
 * its call to another, or is about a call that is not kept any more, affects nothing.
 *
 * @returns the entries that affected nothing for that reason.
 */
export async function writeEntries(tx: Tx, entries: JournalEntry[], now: Date): Promise<JournalEntry[]> {
  // Events refer to their tenants, turns only to their sessions.
  await holdTenantsAcrossTenants(tx, [...new Set(entries.filter(isTold).map(({ call }) => call.tenant.tenant_id))])
  const epochs = await holdEpochsAcrossTenants(tx, [...new Set(entries.map(({ call }) => call.callSid))])
  const isCurrent = ({ call }: JournalEntry) => isOfEpoch(call, epochs.get(call.callSid))
  const current = entries.filter(isCurrent)
  const turns = current.filter((entry) => entry.type === 'turn')
  const written = await putTurnsAcrossTenants(
    tx,
    turns.map(({ turn }) => turn),
  )
  await deleteTurnsAcrossTenants(
    tx,
    current.flatMap((entry) => (entry.type === 'forget' ? [entry.turn] : [])),
  )
  await putFunctionCallsAcrossTenants(
    tx,
    current.flatMap((entry) => (entry.type === 'tool' ? [entry.tool] : [])),
  )
  await tellTurns(tx, turns, { written, now })
  return entries.filter((entry) => !isCurrent(entry))
}

function isOfEpoch({ epoch, nextEpoch }: JournaledCall, current: number | undefined): boolean {
  return current !== undefined && (current === epoch || current === nextEpoch)
}

type Telling = { written: TurnKey[]; now: Date }

/** Tells what was written for the first time, or otherwise than before, to the tenants that ask for every turn. */
async function tellTurns(tx: Tx, entries: TurnEntry[], { written, now }: Telling): Promise<void> {
  const wanted = entries.filter(isTold)
  if (wanted.length === 0) return
  const names = new Set(written.map(nameOf))
  const byTenant = Map.groupBy(
    wanted.filter(({ turn }) => names.has(nameOf(turn))),
    ({ call }) => call.tenant.tenant_id,
  )
  for (const [, [first, ...others]] of [...byTenant].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!first) continue
    const events = [first, ...others].map(({ call: { callSid, sessionId }, turn }) => ({
      event: 'voice.transcript.turn' as const,
      subject: { callSid, sessionId },
      payload: { turn: showTurn(turn) },
    }))
    await enqueue(tx, first.call.tenant, events, now)
  }
}

/** Whether the tenant asks for every turn. */
function isTold({ call, type }: JournalEntry): boolean {
  return type === 'turn' && wantsEvent(call.tenant, 'voice.transcript.turn')
}

function nameOf({ session_id, item_id }: TurnKey): string {
  return `${session_id} ${item_id}`
}
