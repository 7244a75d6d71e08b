import { type Clock, waitAtMost, waitWhile } from '../kernel/clock.ts'
import type { LiveCapacity } from './live-capacity.ts'
import type { LiveSessions } from './live-sessions.ts'
import type { CarrierAnswers } from './stream-ends.ts'

type Deps = {
  clock: Clock
  live: Pick<LiveSessions, 'size' | 'endAll'>
  capacity: Pick<LiveCapacity, 'stop' | 'taken'>
  /** DRAIN_SECONDS. */
  drainMs: number
  /** Gives calls to another node where it can; never rejects. Those that are still here afterwards are ended. */
  handOver: () => Promise<void>
}

/** The carrier of a call that was answered just now opens its stream within this. */
const BEGIN_WITHIN_MS = 5_000
/** Carriers are asked three times, for fifty calls at once. */
const HANDED_OVER_WITHIN_MS = 60_000
/** A call that is told to end finishes its sentence, which has bounds of its own. */
const LAST_WORDS_MS = 20_000
/** A call whose stream is gone waits for the transcripts of its last words, and no longer. */
const WRITTEN_WITHIN_MS = 2_500
const ANSWERED_WITHIN_MS = 5_000
/** Sockets that are told to go have this long to say goodbye. */
const SOCKETS_WITHIN_MS = 1_000

/** Calls that are ended by force are over within this. */
export const VOICE_OVER_MS = SOCKETS_WITHIN_MS + WRITTEN_WITHIN_MS

/**
 * Takes no call from now on; resolves when those that there are have ended, or, when the time is over, were handed over to another
 * node or ended.
 */
export async function drainCalls({ clock, live, capacity, drainMs, handOver }: Deps): Promise<void> {
  capacity.stop()
  const startMs = clock.monotonicMs()
  const isBegun = () => capacity.taken === live.size || clock.monotonicMs() - startMs >= BEGIN_WITHIN_MS
  await waitWhile(clock, () => live.size > 0 || !isBegun(), drainMs)
  if (live.size > 0) await waitAtMost(clock, handOver(), HANDED_OVER_WITHIN_MS)
  live.endAll()
  await waitWhile(clock, () => live.size > 0, LAST_WORDS_MS)
}

/** Resolves when no call is left, which is soon once their streams are gone. */
export function callsOver(clock: Clock, live: Pick<LiveSessions, 'size'>): Promise<void> {
  return waitWhile(clock, () => live.size > 0, WRITTEN_WITHIN_MS)
}

/** Resolves when carriers have answered what they were asked for, or had the time to: calls end by that, not by their sockets. */
export async function answersOver(clock: Clock, carrierCalls: Pick<CarrierAnswers, 'allAnswered'>): Promise<void> {
  await waitAtMost(clock, carrierCalls.allAnswered(), ANSWERED_WITHIN_MS)
}
