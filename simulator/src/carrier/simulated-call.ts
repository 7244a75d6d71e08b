import type { CallEnd } from './call-plan.ts'
import type { CallStatus } from './call-record.ts'
import type { CallFaults } from './faults.ts'
import type { CallMeasures } from './measure.ts'
import type { MediaStream } from './media-stream.ts'
import type { CallRecording } from './recording.ts'
import type { CallEvent } from './timeline.ts'
import type { Notification } from './verbs.ts'

/** A call of the carrier, as a test, a demo or a scenario sees it. */
export type SimulatedCall = {
  readonly sid: string
  readonly from: string
  readonly to: string
  readonly direction: 'inbound' | 'outbound-api' | 'outbound-dial'
  readonly status: CallStatus
  /** The call's own switches; what is changed holds from the next frame or callback on. */
  readonly faults: CallFaults
  /** What happened so far, in order. */
  readonly events: readonly CallEvent[]
  /** What the carrier's debugger would show. Nothing of it should come from a sound bridge on a good day. */
  readonly notifications: readonly Notification[]
  /** Both directions since the answer; null before it. */
  readonly recording: CallRecording | null
  /** Counts of each media stream that the call had, first one first. */
  readonly streams: readonly MediaStream['counts'][]
  /** Resolves when the call is over. */
  readonly ended: Promise<CallEnd>
  /** Resolves when the call is over and its sockets are closed (or left open by a switch) and its callbacks are done. */
  readonly settled: Promise<void>
  /** Measures the call so far. Null before the answer. */
  measure(): CallMeasures | null
  /** The party puts the receiver down. */
  hangUp(): void
  /**
   * The party says this as soon as it has done what its script has left, over the agent or not. False when it cannot: the call
   * is not in progress, or a hundred steps wait already. Throws when the voice fails.
   */
  say(text: string): Promise<boolean>
  /** Calls the watcher for each event from now on; the function that it returns ends that. */
  watch(watcher: (event: CallEvent) => void): () => void
  /** The first event, past or to come, that fits; null when none came within the time. */
  until(fits: (event: CallEvent) => boolean, withinMs: number): Promise<CallEvent | null>
}
