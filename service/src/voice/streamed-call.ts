import type { Clip } from '../agents/clips.ts'
import type { ResolvedAgent } from '../agents/resolve.ts'
import type { StreamCodec } from '../platform/telephony/port.ts'
import type { NextHolder } from '../records/call-holder.ts'
import type { HandedTo } from '../records/call-record.ts'
import type { CallDirection, SessionId } from '../records/call-values.ts'
import type { EarlierStream } from '../records/sessions.ts'
import type { SpentToday } from '../records/spent-today.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { CarrierSocket } from './media-path.ts'
import type { TransferFault } from './session/events.ts'
import type { Tool } from './tools/tool.ts'

/** A call whose stream was let in, with all that its session is made of. */
export type StreamedCall = {
  tenant: TenantRuntime
  /** Who speaks in it: another one from the moment at which it is handed over. */
  agent: ResolvedAgent
  callSid: string
  streamSid: string
  sessionId: SessionId
  epoch: number
  /** Who may have the call by now without its being known here. */
  next?: readonly NextHolder[]
  direction: CallDirection
  from: string
  to: string
  orgId: string | null
  /** What whoever placed or routed the call has said of it. */
  metadata?: Record<string, unknown>
  /** What the model is told before the agent's instructions, its variables open; null for nothing. */
  prompt?: string | null
  /** Those of the tenant's own tools that the agent may use. */
  tools?: readonly Tool[]
  /** What its agent says first, spoken ahead, as its version has it; not all of it may be for this call. */
  clips?: readonly Clip[]
  /** When the carrier's `start` came, monotonic; not given: when the session is made. */
  streamAtMs?: number
  /** What the records have as the beginning of the session. */
  startedAt?: Date
  codec: StreamCodec
  carrier: CarrierSocket & { close(): void }
  /** What the tenant's other calls have taken of its day; null, or not given, where nobody counts. */
  spentToday?: SpentToday | null
  /** How long the call may last, by the agent that it began with; null, or not given: as its agent has it. */
  maxCallSeconds?: number | null
  /** What an earlier stream of the call has left, of which this process has no session. */
  before?: EarlierStream | null
  /** Why nobody took the call that this stream brings back; null, or not given, where its carrier has not said it. */
  notThrough?: TransferFault | null
  /** The agent to whom the call was handed in this session; null, or not given, where it is still the first one's. */
  handedTo?: HandedTo | null
}
