import { leftMs } from '../playback.ts'
import type { Ask } from './answers.ts'
import { ask } from './asking.ts'
import { dropWaiting } from './coming-back.ts'
import { beginEnding } from './ending.ts'
import { silence } from './interrupting.ts'
import { addNote } from './keeping.ts'
import { cancelTransfer, isLeaving } from './leaving.ts'
import { isLeavingMessage } from './mailbox.ts'
import { wasNotThrough } from './not-through.ts'
import { isAwaited } from './party.ts'
import { isOutOfHands, type Step } from './state.ts'
import { giveWay } from './taking-over.ts'

/** How long the goodbye may take to be said once the time is up. */
const LAST_WORDS_MS = 20_000
/** How long a model may take to make what is left on a mailbox, which is heard out then. */
const LAST_MESSAGE_MS = 45_000
const TIME_WARNING = 'This call must end soon. Bring the conversation to a close.'
export const TIME_UP = 'The time for this call is over. Say so, and say goodbye, in one sentence.'

/** Most of the longest call has passed: the model is told. */
export function timeIsShort(step: Step): void {
  // So that a model session that is not there yet, or comes later, is told it too.
  addNote(step, 'system', { text: TIME_WARNING, isKept: false })
  step.command({ type: 'system_message', text: TIME_WARNING })
}

/** What was left of the tenant's day has passed, which is its budget's to act on; or the longest call has, which nobody keeps longer. */
export function timeIsUp(step: Step): void {
  const { budgetMs, maxCallMs } = step.state.plan
  if (step.state.timeUp === null && budgetMs !== null && budgetMs < maxCallMs) {
    step.set({ timeUp: 'day' })
    return step.do({ type: 'arm', timer: 'time_up', ms: Math.max(1, maxCallMs - step.atMs) })
  }
  step.set({ timeUp: 'call' })
  // One that ends anyway is not asked for another goodbye.
  if (!step.state.ending) wrapUp(step, TIME_UP)
  else if (!isLeavingMessage(step.state)) cutLong(step)
}

/** A model makes its words faster than they are heard: what would take longer to hear than the goodbye may is not waited for. */
function cutLong(step: Step): void {
  if (leftMs(step.state.playback, step.nowMs) > LAST_WORDS_MS) silence(step)
}

/** The goodbye was given its time. A call that the carrier takes elsewhere by then is not hung up: whoever takes it has it. */
export function lastWordsOver(step: Step): void {
  if (isLeaving(step)) return
  if (isLeavingMessage(step.state)) return beginEnding(step, 'voicemail', true)
  cutLong(step)
  beginEnding(step, 'max_duration', true)
}

/** Whether the longest call has passed, though who had the call then may have kept it longer. */
export function isTimeUp({ state: { timeUp } }: Step): boolean {
  return timeUp === 'call'
}

/** A goodbye that is not said yet does not end the call any more. */
export function withdrawGoodbye(step: Step): void {
  const { asked, active, queue } = step.state.answers
  step.do({ type: 'disarm', timer: 'last_words' })
  step.setAnswers({
    asked: asked && { ...asked, ask: withoutEnd(asked.ask) },
    active: active && { ...active, asked: active.asked && { ...active.asked, ask: withoutEnd(active.asked.ask) } },
    queue: queue.filter(({ thenEnd }) => thenEnd !== 'max_duration'),
  })
}

function withoutEnd(ask: Ask): Ask {
  return ask.thenEnd === 'max_duration' ? { ...ask, thenEnd: null } : ask
}

/** What is left on a mailbox takes the place of a goodbye, and has its own time from when it is waited for, and from when it begins. */
export function leaveInstead(step: Step): void {
  const { timeUp, budget } = step.state
  if (timeUp !== 'call' && budget !== 'spent') return
  withdrawGoodbye(step)
  step.do({ type: 'arm', timer: 'last_words', ms: LAST_MESSAGE_MS })
}

/** The agent says goodbye, and the call ends with that or a little later without. Nobody keeps it longer. */
export function wrapUp(step: Step, instructions: string): void {
  // Should the carrier bring it back, that is looked at again.
  if (isLeaving(step)) return
  // Who has taken the call has stopped its message: the model may only not have said so yet.
  if ((isLeavingMessage(step.state) || isAwaited(step.state)) && !isOutOfHands(step))
    return step.do({ type: 'arm', timer: 'last_words', ms: LAST_MESSAGE_MS })
  cutLong(step)
  giveWay(step)
  takeOffHold(step)
  step.do({ type: 'arm', timer: 'last_words', ms: LAST_WORDS_MS })
  ask(step, { why: 'goodbye', instructions, thenEnd: 'max_duration' })
}

/** A call whose target is being rung is not put through any more: its caller hears goodbye, and nothing that was to wait for that. */
function takeOffHold(step: Step): void {
  const { transfer: wanted, phase } = step.state
  if (!wanted) return
  cancelTransfer(step)
  dropWaiting(step)
  if (wanted.holds > 0 && phase !== 'detached') silence(step)
  // Where nobody was rung yet, nobody can be said not to have answered.
  addNote(step, 'system', { text: wasNotThrough(wanted.phase === 'holding' ? 'no_answer' : 'failed'), isKept: true })
}
