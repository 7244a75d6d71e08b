import { tones } from './tones.ts'

/** How long it is. */
export const HOLD_MUSIC_MS = 3_000

/** What a caller hears who waits, as base64 µ-law: two soft chords, and a pause. It is sent again when it is over. */
export const HOLD_MUSIC = tones(
  [
    { hz: [392, 494], ms: 500 },
    { hz: [], ms: 200 },
    { hz: [330, 415], ms: 700 },
    { hz: [], ms: 1_600 },
  ],
  4_000,
)
