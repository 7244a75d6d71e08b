import { awaitSounds, inLastWords } from './awaited-sounds.ts'
import type { Undecided } from './caller-speech.ts'
import type { CallOff } from './events.ts'
import { interrupt, mayBeStopped } from './interrupting.ts'
import { addNote } from './keeping.ts'
import type { Step } from './state.ts'

/** What is written down of it. */
const NOT_PUT_THROUGH = 'The call was not put through, because the caller spoke before it was.'

/**
 * Sounds of the caller's are heard, or were just now, while the agent is about to put the call through. Where they have not stopped it so
 * that it goes on with its last words by itself, the transfer waits until it is known what they were.
 */
export function holdTransfer(step: Step, itemIds: readonly string[]): void {
  if (!step.state.stopped && mayBeStopped(step)) awaitSounds(step, itemIds)
}

/** Those of the sounds that nobody knows yet that were long enough for speech: a transfer waits for their words. */
export function meantOf(undecided: readonly Undecided[]): string[] {
  return undecided.filter(({ isMeant }) => isMeant).map(({ itemId }) => itemId)
}

/**
 * The caller has said something. Where that stopped the agent in its last words, or stops it now, the call is not put through: the agent's
 * tool tells it why, and asks it to answer. To be looked at before it is silent for these words.
 *
 * @returns whether the transfer is called off.
 */
export function callOffTransfer(step: Step, itemId: string, isStoppedNow: boolean): boolean {
  const { stopped } = step.state
  const wanted = inLastWords(step.state)
  const isStoppedBy = stopped?.itemIds.includes(itemId) || wanted?.stoppedBy.includes(itemId)
  if (!wanted || !(isStoppedBy || (isStoppedNow && mayBeStopped(step)))) return false
  callOff(step, 'spoken')
  return true
}

/**
 * The session that heard them is lost, and with it the words that a transfer waits for: they may have been to keep the call, so it is
 * kept, and the caller is asked to say them again.
 */
export function callOffUnknown(step: Step): void {
  const wanted = inLastWords(step.state)
  if (!wanted) return
  const { stopped, undecided } = step.state
  const itemIds = [...wanted.stoppedBy, ...(stopped?.itemIds ?? []), ...meantOf(undecided)]
  if (itemIds.length === 0 || !mayBeStopped(step)) return
  interrupt(step)
  callOff(step, 'unknown')
  // The agent's tool asks for the answer: it is no turn beside that.
  step.set({ speech: null, undecided: [], hasMissedWords: true })
}

function callOff(step: Step, why: CallOff): void {
  step.set({ transfer: null })
  step.do({ type: 'disarm', timer: 'transfer' }, { type: 'cancel_transfer', why })
  addNote(step, 'system', { text: NOT_PUT_THROUGH, isKept: true })
}

/** The model is to know of it before its tool has answered. */
export function tellCalledOff(step: Step): void {
  step.command({ type: 'system_message', text: NOT_PUT_THROUGH })
}
