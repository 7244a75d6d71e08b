import { pressed } from '../../records/pressed-keys.ts'
import { heard } from '../playback.ts'
import { isClip } from './clip-id.ts'
import { disclosureOf } from './disclosing.ts'
import { interrupt } from './interrupting.ts'
import { addNote } from './keeping.ts'
import type { SessionState, Step } from './state.ts'
import { answerTurn } from './turns.ts'

/** A call that another node is to have is given so long for an entry to be completed: it goes half a second later. */
const HANDED_OVER_MS = 2_500

/**
 * A key was pressed: the agent falls silent at the first, but is kept neither from its greeting nor from what the law wants said before
 * it. An entry is told to the model as one message: at its end key, when it is full, or after a pause. One that is being connected
 * keeps it until it is ready, and then answers it behind its greeting; of a call that another node is to have it is written down for that.
 * Who ends by habit what was full already is not answered twice.
 */
export function keyPressed(step: Step, digit: string): void {
  const { phase, plan, digits, detached } = step.state
  const isOn = phase === 'talking' || phase === 'waiting'
  if (!isOn && !detached?.isHandedOver) return
  const isEndOfFull = digit === plan.dtmf.endKey && isFullEntryNew(step)
  step.set({ fullEntryMs: null })
  if (isEndOfFull) return
  if (isOn && !isGreetingToCome(step)) interrupt(step)
  step.set({ idleStage: 0, idleArmed: false, idleHeldUntilMs: null })
  if (digit === plan.dtmf.endKey) return tellKeys(step)
  step.set({ digits: digits + digit })
  if (step.state.digits.length < plan.dtmf.maxDigits) return awaitKeys(step)
  step.set({ fullEntryMs: step.nowMs })
  tellKeys(step)
}

/** Whether the last key filled an entry, of several keys, not longer ago than a pause that would have ended it. */
function isFullEntryNew({ state: { fullEntryMs, plan }, nowMs }: Step): boolean {
  return fullEntryMs !== null && plan.dtmf.maxDigits > 1 && nowMs - fullEntryMs < plan.dtmf.timeoutMs
}

/** More keys have so long to come. */
export function awaitKeys(step: Step): void {
  const { plan, detached } = step.state
  const leftMs = detached ? detached.sinceMs + HANDED_OVER_MS - step.nowMs : Number.POSITIVE_INFINITY
  step.do({ type: 'arm', timer: 'dtmf', ms: Math.max(1, Math.min(plan.dtmf.timeoutMs, leftMs)) })
}

/** The entry is complete. An end key alone is an entry too: it is told as that key. */
export function tellKeys(step: Step): void {
  const digits = step.state.digits || step.state.plan.dtmf.endKey
  const text = pressed(digits)
  step.set({ digits: '' })
  addNote(step, 'system', { text, isKept: true })
  step.do({ type: 'disarm', timer: 'dtmf' }, { type: 'note', note: { type: 'digits', digits } })
  step.command({ type: 'system_message', text })
  answerTurn(step, step.nowMs)
}

/** Whether the greeting does not sound yet: it was asked for, or what comes before it, as a disclosure, is still being heard. */
function isGreetingToCome(step: Step): boolean {
  return isGreetingAsked(step.state) || areClipsBefore(step)
}

function isGreetingAsked({ answers: { asked, active } }: SessionState): boolean {
  const wanted = asked?.isAbandoned === false ? asked : active?.hasAudio === false ? active.asked : null
  return wanted?.ask.why === 'greeting'
}

function areClipsBefore({ state, nowMs }: Step): boolean {
  const unheard = heard(state.playback, nowMs).filter(({ heardMs, sentMs }) => heardMs < sentMs)
  const isFirstWords = (itemId: string) => state.clips.played.some((one) => one.itemId === itemId)
  const isDisclosure = (itemId: string) => isClip(itemId) && disclosureOf(state, itemId) !== null
  return unheard.some(({ itemId }, at) => isFirstWords(itemId) && (at > 0 || isDisclosure(itemId)))
}
