import type { Undecided } from './caller-speech.ts'
import type { CallOff } from './events.ts'
import { interrupt, mayBeStopped } from './interrupting.ts'
import { addNote } from './keeping.ts'
import type { SessionState, Step, Transfer } from './state.ts'

/** What is written down of it. */
const NOT_PUT_THROUGH = 'The call was not put through, because the caller spoke before it was.'

/**
 * Sounds of the caller's have stopped the agent in its last words before it puts the call through, or before it could say any. Where it
 * will not go on with them by itself, the transfer waits until it is known what they were.
 */
export function holdTransfer(step: Step, itemIds: readonly string[]): void {
  const wanted = inLastWords(step)
  if (!wanted || step.state.stopped || !mayBeStopped(step)) return
  step.set({ transfer: { ...wanted, stoppedBy: [...wanted.stoppedBy, ...itemIds] } })
}

/**
 * The sounds whose words a transfer has to wait for once the agent will not go on by itself: those that have stopped it, and of others
 * those that were long enough for speech.
 */
export function soundsToKnow({ stopped }: SessionState, undecided: readonly Undecided[]): string[] {
  const meant = undecided.filter(({ isMeant }) => isMeant).map(({ itemId }) => itemId)
  return stopped?.phase === 'silent' ? [...stopped.itemIds, ...meant] : meant
}

/** It is known what a sound of the caller's was: nothing waits for it any more. */
export function releaseTransfer(step: Step, itemId: string): void {
  const wanted = inLastWords(step)
  if (!wanted?.stoppedBy.includes(itemId)) return
  step.set({ transfer: { ...wanted, stoppedBy: wanted.stoppedBy.filter((id) => id !== itemId) } })
}

/**
 * The caller has said something. Where that stopped the agent in its last words, or stops it now, the call is not put through: the agent's
 * tool tells it why, and asks it to answer. To be looked at before it is silent for these words.
 *
 * @returns whether the transfer is called off.
 */
export function callOffTransfer(step: Step, itemId: string, isStoppedNow: boolean): boolean {
  const { stopped } = step.state
  const wanted = inLastWords(step)
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
  const wanted = inLastWords(step)
  if (!wanted) return
  const isWaiting = wanted.stoppedBy.length > 0 || soundsToKnow(step.state, step.state.undecided).length > 0
  if (!isWaiting || !mayBeStopped(step)) return
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

/** What the agent is about to put through, while not all that it says before that was heard; null else. */
function inLastWords({ state: { transfer } }: Step): Transfer | null {
  return transfer?.phase === 'words' && transfer.isAgents ? transfer : null
}
