import { tones } from './tones.ts'

const PEAK = 4_000
const [HIGH, LOW] = [
  [392, 494],
  [330, 415],
] as const

/** How long it is. */
export const HOLD_MUSIC_MS = 3_000

/** What a caller hears who waits, as base64 µ-law: two soft chords, and a pause. It is sent again when it is over. */
export const HOLD_MUSIC = tones(
  [
    { hz: HIGH, ms: 500 },
    { hz: [], ms: 200 },
    { hz: LOW, ms: 700 },
    { hz: [], ms: 1_600 },
  ],
  PEAK,
)

/** The chords alone, and quickly: an answer that has begun meanwhile is heard behind them. */
export const HOLD_CHORDS = tones(
  [
    { hz: HIGH, ms: 200 },
    { hz: LOW, ms: 300 },
  ],
  PEAK,
)
