import type { Clock } from '../kernel/clock.ts'
import type { ModelListener, ModelSession } from '../platform/realtime/port.ts'
import type { AudioRooms } from './audio-rooms.ts'
import type { CallStream } from './call-streams.ts'
import type { SessionEventLog } from './event-log/event-log.ts'
import type { PutOff } from './put-off.ts'
import type { CallRecorder } from './recording/recorder.ts'
import type { Apology, EndReason, LiveNote, ToolOutcome, Turn } from './session/events.ts'
import type { Plan } from './session/plan.ts'
import type { Resumption } from './session/resumption.ts'
import type { SessionState } from './session/state.ts'
import type { OpenVoice } from './spoken-answers.ts'
import type { CallTransfer } from './transfer/transfer.ts'

/** A tool call as the model asked for it; `atMs` counts from the session's start. */
export type ToolRequest = { callId: string; name: string; argumentsText: string; atMs: number }

/** `history` is the conversation so far, for one that takes over from another. `isFallback`: the call's own model stays away. */
export type ModelOpening = { history: string | null; isFallback: boolean }

/** What a session is given: everything that it does to the world goes through here. */
export type SessionDeps = CallStream & {
  clock: Clock
  plan: Plan
  /** What the call is called. */
  callSid: string
  /** The clips of the plan that is in force, each as base64 µ-law in pieces. */
  clips?: readonly (readonly Buffer[])[]
  /** What a caller on hold hears, as base64 µ-law in pieces; null, or not given, for our music. */
  holdAudio?: readonly Buffer[] | null
  /** Where audio is kept for seconds, by all calls of the process; not given, it has rooms of its own. */
  rooms?: AudioRooms
  /** Where sessions put off what nobody waits for; not given, nothing is put off. */
  putOff?: PutOff
  /** What it goes on from; not given for the first session of a call. */
  resumption?: Resumption | null
  /** How long ago the carrier's `start` came; not given: just now. */
  waitedMs?: number
  /** Opens a model session. */
  openModel(listener: ModelListener, opening: ModelOpening): ModelSession
  /** Opens a session that takes down what a person says who has the call; null where no model does that. */
  openScribe: ((listener: ModelListener) => ModelSession) | null
  /** Who records the call, and is closed by whoever made it; null or missing when nobody does. */
  recorder?: Pick<CallRecorder, 'caller' | 'agent' | 'follow' | 'pause'> | null
  /** Keeps what happens, so that the session can be run again; null or missing where nobody does. It closes it. */
  eventLog?: Pick<SessionEventLog, 'begin' | 'step' | 'close'> | null
  /** Of the service, for that log. */
  version?: string
  /** Opens a stream of the secondary provider's speech; null or missing where the plan wants none. */
  openVoice?: OpenVoice | null
  /** Runs a tool. Never rejects: what goes wrong is an outcome. */
  runTool(request: ToolRequest): Promise<ToolOutcome>
  /** Writes down a call of a tool that is not run, with what the model is told of it. */
  refuseTool(request: ToolRequest, output: string): void
  keepTurn(turn: Turn): void
  forgetTurn(itemId: string): void
  note(note: LiveNote): void
  /** Writes down what has come of the session so far. Never waits, never throws. */
  checkpoint?(state: SessionState): void
  /** What puts the call through to others; null or missing where no carrier has it. */
  transfer?: CallTransfer | null
  /** Makes the carrier end the call. Never waits, never throws. */
  hangUp(): void
  /** Makes the carrier say this, if there is something, and connect the number or hang up. Never waits, never throws. */
  apologise(words: Apology): void
  /**
   * A fault of ours: something given here threw, or the reducer did. The call goes on as well as it can. Never throws.
   */
  failed(error: unknown): void
  /** Called once, when nothing of the session is left but tools that outlast it: they end by their own deadline. */
  finished(reason: EndReason, state: SessionState): void
}
