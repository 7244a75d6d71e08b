import type { Active } from './answers.ts'
import { markEnd } from './end-mark.ts'
import { deleteItem } from './keeping.ts'
import type { Step } from './state.ts'
import { closeWords } from './words.ts'

/** Takes an answer off the stage: nothing more of it is expected. */
export function answerOver(step: Step, { responseId, writtenItemIds, hasAudio }: Active): void {
  step.setAnswers({ active: null, lastDoneId: responseId })
  step.do({ type: 'disarm', timer: 'stall' })
  // Words that nobody heard are no part of the conversation, and would make a model that is to speak write on.
  if (!hasAudio) for (const itemId of writtenItemIds) deleteItem(step, itemId)
  markEnd(step, responseId)
  closeWords(step, responseId)
}
