import type { Ask } from './answers.ts'
import { askFirst, askNext } from './asking.ts'
import { askAgain } from './retry.ts'
import type { Step } from './state.ts'

/** The provider's code for an answer that it keeps back for what is said in it. */
export const FILTERED = 'content_filter'

const CANNOT_HELP =
  'What you were about to say cannot be said. Tell the caller in one short sentence that you cannot help with that, and nothing else of it.'

/**
 * An answer was kept back for what was to be said in it: the model is well, and may say it otherwise the next time. Else it says that it
 * cannot help with that. Neither counts towards giving it up; only where not even that may be said it is of no more use.
 */
export function askOtherwise(step: Step, wanted: Ask): void {
  const filtered = (wanted.filtered ?? 0) + 1
  if (filtered > 2) return askAgain(step, wanted, false)
  const instructions = filtered === 1 ? wanted.instructions : CANNOT_HELP
  askFirst(step, { ...wanted, instructions, filtered })
  askNext(step)
}
