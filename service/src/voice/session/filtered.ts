import type { Active, Ask } from './answers.ts'
import { askFirst, askNext } from './asking.ts'
import { askAgain } from './retry.ts'
import { isOutOfHands, type Step } from './state.ts'

/** The provider's code for an answer that it keeps back for what is said in it. */
export const FILTERED = 'content_filter'

const CANNOT_HELP =
  'What you were about to say cannot be said. Tell the caller in one short sentence that you cannot help with that, and nothing else of it.'

/** So often an answer may be kept back: the first time it is asked for once more, the second time something else is in its place. */
const MAX_FILTERED = 2

/**
 * An answer was kept back for what was to be said in it: the model is well, and may say it otherwise the next time. Else it says that it
 * cannot help with that. Neither counts towards giving it up; only where not even that may be said it is of no more use.
 */
export function askOtherwise(step: Step, wanted: Ask): void {
  const filtered = (wanted.filtered ?? 0) + 1
  if (filtered > MAX_FILTERED) return askAgain(step, wanted, false)
  const { exact: _words, ...otherwise } = wanted
  askFirst(step, filtered === 1 ? { ...wanted, filtered } : { ...otherwise, instructions: CANNOT_HELP, filtered })
  askNext(step)
}

/**
 * The same in the middle of an answer: of what was heard of it nothing can be said otherwise, and who heard half a sentence is told that
 * there will be no more of it. Null where nobody waits for that, or what was kept back were these words.
 */
export function insteadOfRest(step: Step, { asked, hasAudio, hasTool }: Active): Ask | null {
  const ask = asked?.ask
  if (!ask || !hasAudio || hasTool || ask.why === 'filler' || step.state.ending || isOutOfHands(step)) return null
  if ((ask.filtered ?? 0) >= MAX_FILTERED) return null
  return { why: 'rest', instructions: CANNOT_HELP, thenEnd: ask.thenEnd, filtered: MAX_FILTERED }
}
