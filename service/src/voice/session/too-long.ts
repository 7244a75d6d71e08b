import type { Active, Ask } from './answers.ts'
import { isOutOfHands, type Step } from './state.ts'

/** The provider's code for an answer that it ends because it has become too long. */
export const TOO_LONG = 'max_output_tokens'

const COME_TO_ITS_END =
  'What you said last was cut off because it was too long. Go on from there, without repeating it, and come to its end in a few sentences.'

/**
 * An answer became longer than its provider lets one be, as after some minutes: who heard it as far as that hears its end, once. Null where
 * nobody waits for that, or a tool that it called goes on with it.
 */
export function restOfTooLong(step: Step, { asked, hasAudio, hasTool }: Active): Ask | null {
  const ask = asked?.ask
  if (!ask || !hasAudio || hasTool || ask.why === 'filler' || step.state.ending || isOutOfHands(step)) return null
  if (ask.instructions === COME_TO_ITS_END) return null
  return { why: 'rest', instructions: COME_TO_ITS_END, thenEnd: ask.thenEnd }
}
