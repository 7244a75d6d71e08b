import { enqueue, wantsEvent } from '../delivery/enqueue.ts'
import type { Tx } from '../platform/db/schema.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { holdTenantsAcrossTenants, keepHoldersAcrossTenants } from './call-directory-store.ts'
import { isHeldBy } from './call-holder.ts'
import type { JournalEntry } from './journal-entry.ts'
import {
  addTurnsAcrossTenants,
  deleteTurnsAcrossTenants,
  putFunctionCallsAcrossTenants,
  putTurnsAcrossTenants,
  type TurnKey,
  type TurnRow,
  type WrittenTurn,
} from './transcript-store.ts'
import { showTurn } from './voice-session-shape.ts'

type TurnEntry = Extract<JournalEntry, { type: 'turn' }>

/**
 * `isLate`: the entry had to wait, for the database or for the start after its process had ended. `isUnwanted`: its tenant asks for it no
 * more, as it did when the call began; not given: all of them still do.
 */
type Writing = {
  now: Date
  isLate?: (entry: JournalEntry) => boolean
  isUnwanted?: (entry: JournalEntry) => boolean
}

/**
 * Writes entries of any calls, no two of one key. To write them again changes nothing. What is about a call that is not kept any
 * more affects nothing, and neither does, while the database answers, what comes from a stream that has lost its call to another.
 *
 * What had to wait was said while its owner could not be told that it had lost the call, and a carrier has one stream of a call:
 * until that was gone, it was what the caller heard and said. So of a past epoch such an entry is kept where it adds something,
 * a turn or a tool call that is not stored, or a call's answer; it replaces and takes out nothing else, and takes its place in the
 * conversation by time.
 *
 * @returns the entries of past epochs that were not to be written for these reasons.
 */
export async function writeEntries(
  tx: Tx,
  entries: JournalEntry[],
  { now, isLate = () => false, isUnwanted = () => false }: Writing,
): Promise<JournalEntry[]> {
  const told = entries.filter(isTold).filter((entry) => !isUnwanted(entry))
  // Events refer to their tenants, turns only to their sessions.
  await holdTenantsAcrossTenants(tx, [...new Set(told.map(({ call }) => call.tenant.tenant_id))])
  const holders = await keepHoldersAcrossTenants(tx, [...new Set(entries.map(({ call }) => call.callSid))])
  const isCurrent = ({ call }: JournalEntry) => {
    const holder = holders.get(call.callSid)
    return holder !== undefined && isHeldBy(holder, call)
  }
  const isAdding = (entry: JournalEntry) =>
    entry.type !== 'forget' && isLate(entry) && entry.call.epoch < (holders.get(entry.call.callSid)?.epoch ?? 0)
  const {
    current = [],
    adding = [],
    stale = [],
  } = Object.groupBy(entries, (entry) => (isCurrent(entry) ? 'current' : isAdding(entry) ? 'adding' : 'stale'))
  const written = [
    ...(await putTurnsAcrossTenants(tx, turnsOf(current))),
    ...(await addTurnsAcrossTenants(tx, turnsOf(adding))),
  ]
  await deleteTurnsAcrossTenants(
    tx,
    current.flatMap((entry) => (entry.type === 'forget' ? [entry.turn] : [])),
  )
  await putFunctionCallsAcrossTenants(
    tx,
    [...current, ...adding].flatMap((entry) => (entry.type === 'tool' ? [entry.tool] : [])),
  )
  await tellTurns(tx, told, { written, now })
  return stale
}

function turnsOf(entries: JournalEntry[]): TurnRow[] {
  return entries.flatMap((entry) => (entry.type === 'turn' ? [entry.turn] : []))
}

type Telling = { written: WrittenTurn[]; now: Date }

/** Tells what was written for the first time, or otherwise than before, to the tenants that ask for every turn. */
async function tellTurns(tx: Tx, wanted: TurnEntry[], { written, now }: Telling): Promise<void> {
  if (wanted.length === 0) return
  const seqs = new Map(written.map((turn) => [nameOf(turn), turn.seq]))
  const byTenant = Map.groupBy(
    wanted.filter(({ turn }) => seqs.has(nameOf(turn))),
    ({ call }) => call.tenant.tenant_id,
  )
  for (const [, [first, ...others]] of [...byTenant].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!first) continue
    const events = [first, ...others].map(({ call: { callSid, sessionId }, turn }) => ({
      event: 'voice.transcript.turn' as const,
      subject: { callSid, sessionId },
      payload: { turn: showTurn({ ...turn, seq: seqs.get(nameOf(turn)) ?? turn.seq }) },
    }))
    await enqueue(tx, first.call.tenant, events, now)
  }
}

/** Whether its tenant asked for every turn when the call began. */
export function isTold(entry: JournalEntry): entry is TurnEntry {
  return entry.type === 'turn' && wantsTurns(entry.call.tenant)
}

/** Whether the tenant asks for every turn. */
export function wantsTurns(tenant: TenantRuntime): boolean {
  return wantsEvent(tenant, 'voice.transcript.turn')
}

function nameOf({ session_id, item_id }: TurnKey): string {
  return `${session_id} ${item_id}`
}
