import type { ResolvedAgent } from '../agents/resolve.ts'
import type { RequestKey } from '../kernel/request-key.ts'
import type { Tx } from '../platform/db/schema.ts'
import type { CallLogRow } from '../records/call-log-store.ts'
import type { MachineAction } from '../voice/stream-begin.ts'
import type { CallingHours } from './calling-hours.ts'
import type { Dial } from './dial-gate.ts'

/** A call to be placed, with nothing left open. */
export type WantedCall = {
  kind: Dial['kind']
  from: string
  to: string
  orgId: string | null
  agent: ResolvedAgent
  /** Said in place of the agent's own. */
  greeting: string | null
  metadata: Record<string, unknown>
  callbackTaskId: string | null
  /** The campaign that it is for; null, or not given, for none. */
  campaignId?: string | null
  /** The person who asks for it; null, or not given, for nobody. */
  placedBy?: string | null
  /** Hours in which the callee may be called, beside the tenant's; null, or not given, for none. */
  hours?: CallingHours | null
  /** What is done on a machine, in place of what the agent does; null, or not given, for that. */
  onMachine?: MachineAction | null
  /** By which the request may be repeated; `freeBefore`: what was taken until then is free again. */
  key: (RequestKey & { freeBefore: Date }) | null
  /** Done in the transaction that writes the call down, last: what it throws undoes the call. */
  onQueued?(tx: Tx, log: CallLogRow): Promise<void>
}

/** Where the carrier asks and tells about a dial. */
export type DialAddresses = (dialRef: string) => { answer: string; status: string }
