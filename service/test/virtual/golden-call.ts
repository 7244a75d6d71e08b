import type { Act } from './caller.ts'
import type { WorldOptions } from './world.ts'

/** Four turns, two of them over the agent's voice, a number by keys, a goodbye that the agent ends the call with. */
export const GOLDEN_SCRIPT: readonly Act[] = [
  { cue: { afterSilenceMs: 700 }, say: 'What are your opening hours?', forMs: 1_800 },
  { cue: { intoSpeechMs: 3_000 }, say: 'Do you have a table for two tonight?', forMs: 2_000 },
  { cue: { intoSpeechMs: 2_500 }, say: 'Yes, book it please.', forMs: 1_400 },
  { cue: { afterSilenceMs: 700, words: /number/ }, press: '5550123#' },
  { cue: { afterSilenceMs: 700 }, say: 'No, goodbye.', forMs: 1_100 },
  { cue: { afterMs: 40_000 }, hangUp: true },
]

/** The golden call: every mechanism of a call once. The tool takes long enough for a filler. */
export const GOLDEN_CALL: WorldOptions = {
  script: GOLDEN_SCRIPT,
  plan: { greeting: 'Welcome to the Blue Door. What can I do for you?' },
  toolMs: { book_table: 3_600 },
}

/** Longer than the golden call lasts with any one cut, and the silence of a caller who waits in vain. */
export const GOLDEN_LIMIT_MS = 240_000
