import type { Active } from './answers.ts'
import { markEnd } from './end-mark.ts'
import { deleteItem } from './keeping.ts'
import type { Step } from './state.ts'
import { closeWords, unsent } from './words.ts'

/** Takes an answer off the stage: nothing more of it is expected. */
export function answerOver(step: Step, active: Active): void {
  const { responseId } = active
  step.setAnswers({ active: null, lastDoneId: responseId })
  step.do({ type: 'disarm', timer: 'stall' })
  for (const itemId of unheardItems(step, active)) deleteItem(step, itemId)
  markEnd(step, responseId)
  closeWords(step, responseId)
}

/** Words that nobody heard are no part of the conversation, and written ones would make a model that is to speak write on. */
function unheardItems(step: Step, { responseId, writtenItemIds, hasAudio }: Active): string[] {
  const written = hasAudio ? [] : writtenItemIds
  // A conversation that ends needs no mending.
  if (step.state.ending) return [...written]
  return [...written, ...unsent(step, responseId).filter((itemId) => !writtenItemIds.includes(itemId))]
}
