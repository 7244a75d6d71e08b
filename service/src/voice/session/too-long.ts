import type { Active, Ask } from './answers.ts'
import { isOutOfHands, type Step } from './state.ts'

/** The provider's code for an answer that it ends because it has become too long. */
export const TOO_LONG = 'max_output_tokens'

const COME_TO_ITS_END =
  'What you said last was cut off because it was too long. Go on from there, without repeating it, and come to its end in a few sentences.'
const SAY_ITS_REST =
  'What you said last was cut off because it was too long. Go on from there, without repeating it, and say the rest of it exactly as it stands here'

/**
 * An answer became longer than its provider lets one be, as after some minutes: who heard it as far as that hears its end, once. Null where
 * nobody waits for that, or a tool that it called goes on with it.
 */
export function restOfTooLong(step: Step, { asked, hasAudio, hasTool }: Active): Ask | null {
  const ask = asked?.ask
  if (!ask || !hasAudio || hasTool || ask.why === 'filler' || step.state.ending || isOutOfHands(step)) return null
  if (ask.instructions === COME_TO_ITS_END || ask.instructions?.startsWith(SAY_ITS_REST)) return null
  return { why: 'rest', ...toItsEnd(ask), thenEnd: ask.thenEnd }
}

/** What is to be said word for word comes to its end word for word. */
function toItsEnd({ exact }: Ask): Pick<Ask, 'instructions' | 'exact'> {
  return exact === undefined ? { instructions: COME_TO_ITS_END } : { instructions: `${SAY_ITS_REST}: ${exact}`, exact }
}
