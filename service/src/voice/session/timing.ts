import type { TurnTimeline } from './events.ts'

/** A turn of the caller that has no answer yet. Times are ms since the session's start. */
type OwedTurn = Pick<TurnTimeline, 'speechEndMs' | 'committedMs' | 'askedMs' | 'tools'>

/** An answer that sounds, as long as its carrier has not told when that was heard; `mark` stands behind its first `audioMs`. */
type SoundingAnswer = { itemId: string; mark: string | null; audioMs: number; timeline: TurnTimeline }

/** What is measured now: how a turn of the caller becomes an answer that is heard. */
export type Timing = { readonly owed: OwedTurn | null; readonly sounding: SoundingAnswer | null }

/** Nothing is measured. */
export const NO_TIMING: Timing = { owed: null, sounding: null }
