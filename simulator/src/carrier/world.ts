import type { Speech } from '../speech/speech.ts'
import type { DialPlan } from './call-plan.ts'
import type { CallRecord } from './call-record.ts'
import type { Callback } from './callback-sender.ts'
import type { Clock } from './clock.ts'
import type { Conferences } from './conferences.ts'
import type { FarEnd } from './far-end.ts'
import type { CallFaults, Faults } from './faults.ts'
import type { Line } from './line.ts'
import type { MediaStream } from './media-stream.ts'
import type { Random } from './random.ts'
import type { EndedBy, Timeline } from './timeline.ts'
import type { Notification } from './verbs.ts'
import type { WebhookClient } from './webhook-client.ts'

/** What all calls of a carrier share. */
export type World = {
  clock: Clock
  /** Moves frames about; drawn from at every frame. */
  jitter: Random
  /** Decides what happens by chance; drawn from by those events alone, so that a seed repeats them. */
  chance: Random
  speech: Speech
  webhooks: WebhookClient
  conferences: Conferences
  accountSid: string
  authToken: string
  faults: Faults
  /** Rings another party for a call that dials. */
  place(plan: DialPlan): PlacedCall
}

/** A call as the one that dialled it sees it. */
export type PlacedCall = {
  readonly record: CallRecord
  /** Whether it was answered, and ran what was to be run first. */
  readonly ready: Promise<boolean>
  /** Resolves when it can no longer be spoken with: it ended, or was sent elsewhere. */
  readonly left: Promise<'ended' | 'redirected'>
  /** Puts somebody at the far end of its line. */
  connect(farEnd: FarEnd): void
  hangUp(by: EndedBy): void
}

/** A call as its verbs see it. */
export type VerbHost = {
  readonly world: World
  readonly line: Line
  readonly record: CallRecord
  readonly faults: CallFaults
  readonly timeline: Timeline
  /** Keeps a problem for the debugger. */
  notify(problem: Notification): void
  /** Fires a callback of this call. */
  callback(callback: Callback): void
  /** Makes the call responsible for a stream until its socket is closed. */
  keep(stream: MediaStream): void
  /** Ends the call as not taken. */
  reject(status: 'busy' | 'no-answer'): void
}
