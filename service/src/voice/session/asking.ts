import { heard, leftMs } from '../playback.ts'
import type { Active, Ask } from './answers.ts'
import { owedDisclosure } from './disclosing.ts'
import { keepStalls } from './earlier-stalls.ts'
import { isHoldAudio } from './own-audio.ts'
import { isAwaited } from './party.ts'
import { armStall } from './stall-clock.ts'
import { isOthers, isOutOfHands, type SessionState, type Step } from './state.ts'
import { turnAsked } from './timeline.ts'
import { isToAnswer } from './tools-in-row.ts'
import { isOnlySound, openVoice } from './voicing.ts'

const DISCLOSE = 'Before anything else say exactly this sentence'

/** More reasons to speak than this never wait at once: a further one is dropped, unless the call ends with it. */
const MAX_QUEUE = 16

/** What the agent is to say word for word. */
export function exactly(text: string): { instructions: string; exact: string } {
  return { instructions: `Say exactly this, and nothing else: ${text}`, exact: text }
}

/** Asks the model for an answer now, or as soon as it may be asked. Nothing new is said in a call that is ending. */
export function ask(step: Step, wanted: Ask): void {
  if (step.state.ending) return
  const { queue } = step.state.answers
  // One answer to the caller covers all that was said meanwhile, so a second turn in line adds nothing; nor does a second
  // goodbye.
  const isCovered = queue.some((other) => covers(other, wanted))
  const isTooMuch = queue.length >= MAX_QUEUE && wanted.thenEnd === null
  if (!isCovered && !isTooMuch) step.setAnswers({ queue: [...queue, wanted] })
  askNext(step)
}

/**
 * The same with what has just been found. The answer to a turn that was asked for without it and is not heard yet gives way, so that the
 * caller hears one answer, which knows both.
 */
export function askWithNews(step: Step): void {
  ask(step, { why: 'tool', instructions: null, thenEnd: null })
  const { asked, active, queue } = step.state.answers
  if (!queue.some((one) => one.instructions === null && mayBeSaid(step, one))) return
  if (asked && isPlainTurn(asked.ask)) step.setAnswers({ asked: { ...asked, isAbandoned: true } })
  if (!active?.asked || !isPlainTurn(active.asked.ask)) return
  if (!active.hasAudio && !active.hasTool && !isOnlySound(step)) cancelActive(step)
}

/** Whether it answers what the caller said, and has nothing else to tell them. */
function isPlainTurn({ why, instructions }: Ask): boolean {
  return why === 'turn' && instructions === null
}

/** What did not come of an answer that was asked for is asked again, before all others. */
export function askFirst(step: Step, wanted: Ask): void {
  step.setAnswers({ queue: [wanted, ...step.state.answers.queue] })
}

function covers(other: Ask, wanted: Ask): boolean {
  if (wanted.thenEnd !== null) return other.thenEnd === wanted.thenEnd
  // Whoever comes back after a colleague answers what was said last, too.
  if (other.why === 'back') return wanted.instructions === null || wanted.why === 'back'
  return wanted.instructions === null && other.instructions === null && other.thenEnd === null
}

/** Asks for the next in line if nothing else is going on: one answer at a time, of a model that is ready, for a caller who hears. */
export function askNext(step: Step): void {
  const { answers, model, phase } = step.state
  if (phase === 'detached' || !model.isReady || answers.asked || answers.active || answers.isHeld) return
  const wanted = takeNext(step)
  if (wanted) return request(step, wanted, false)
  // Nobody waits for what did not come before: what is asked for later has all its time.
  keepStalls(step)
}

function takeNext(step: Step): Ask | undefined {
  const { queue } = step.state.answers
  const wanted = queue.find((one) => mayBeSaid(step, one))
  if (wanted) step.setAnswers({ queue: queue.filter((one) => one !== wanted) })
  return wanted
}

/**
 * Nobody speaks over a caller who means it, or who is typing, or is muted, but for a supervisor and the last words of a call; over a
 * person who has the call, or is to have it, nobody does, but for what the agent was asked for before and says in another voice.
 */
function mayBeSaid(step: Step, { why, thenEnd, isInPlace }: Ask): boolean {
  const { state } = step
  // Before the beep of a mailbox nobody hears anything.
  if (isAwaited(state) && thenEnd === null) return false
  if (isOutOfHands(step) && (!isInPlace || isOthers(state))) return false
  const isHeldBack = state.speech?.counts === true || state.digits !== '' || state.isMuted
  return !isHeldBack || why === 'say' || thenEnd !== null || state.ending !== null
}

/** What the agent says first begins with what the law wants said, also where that is no greeting. A mailbox has its message as it stands. */
function disclosed(step: Step, wanted: Ask): Ask {
  const sentence = owedDisclosure(step.state)
  const { why, thenEnd, exact, isDisclosed } = wanted
  // A greeting has it, but where a clip is to say it, of which nothing is played.
  const isInGreeting = why === 'greeting' && step.state.plan.disclosure != null
  if (sentence === null || isDisclosed || isInGreeting || why === 'filler' || thenEnd === 'voicemail') return wanted
  if (exact !== undefined) return { ...wanted, ...exactly(`${sentence} ${exact}`), isDisclosed: true }
  step.command({ type: 'system_message', text: `${DISCLOSE}: ${sentence}` })
  return wanted
}

function request(step: Step, next: Ask, isRepeat: boolean): void {
  const wanted = isRepeat ? next : disclosed(step, next)
  const { answers, model, plan } = step.state
  const asks = answers.asks + 1
  const requestId = `ask-${model.epoch}-${asks}`
  const { isOn } = step.state.secondVoice
  const isWritten = isOn ? { isWritten: true } : {}
  const noTools = isToAnswer(step.state) ? { noTools: true as const } : {}
  step.setAnswers({ asks, asked: { requestId, ask: wanted, isAbandoned: false, isRepeat, ...isWritten, ...noTools } })
  openVoice(step)
  const output = plan.secondVoice ? { output: isOn ? ('text' as const) : ('audio' as const) } : {}
  step.command({ type: 'respond', requestId, instructions: wanted.instructions, ...output, ...noTools })
  // Should the one before it come to life after all, that knows less.
  if (!isRepeat) answersUndecided(step, wanted)
  if (wanted.why !== 'filler') turnAsked(step)
  armStall(step)
}

/** The model knows what the caller said last, though we do not know yet whether it was words. */
function answersUndecided(step: Step, { why, instructions }: Ask): void {
  if (instructions !== null || (why !== 'turn' && why !== 'tool')) return
  step.set({ undecided: step.state.undecided.map((one) => ({ ...one, isAnswered: true })) })
}

/**
 * A request that nothing has come of is made once more, or the next one in place of it when nobody wants its answer any
 * more. Should the first one come to life meanwhile, the second is refused.
 */
export function repeatRequest(step: Step): void {
  const { asked } = step.state.answers
  if (!asked) return
  const wanted = asked.isAbandoned ? takeNext(step) : asked.ask
  // The first one answers something else then: should it come to life, what is asked for now is asked for again.
  if (wanted) request(step, wanted, !asked.isAbandoned)
}

/** Stops the active answer: nothing more of it reaches the caller, and the model is told to leave off. */
export function cancelActive(step: Step): void {
  const { active } = step.state.answers
  if (!active || active.isCancelled) return
  const isOverThere = isOnlySound(step)
  changeActive(step, { isCancelled: true })
  step.do({ type: 'discard', responseIds: [active.responseId] })
  if (isOverThere) return
  step.command({ type: 'cancel', responseId: active.responseId })
  armStall(step)
}

/** Changes what is known of the active answer. */
export function changeActive(step: Step, facts: Partial<Active>): void {
  const { active } = step.state.answers
  if (active) step.setAnswers({ active: { ...active, ...facts } })
}

/** Whether the agent is speaking, or about to. */
export function isAnswering({ state, nowMs }: Step): boolean {
  return isAsked(state) || leftMs(state.playback, nowMs) > 0
}

/** The same, but for what is heard while a tool takes long: whoever speaks into that speaks over nobody. */
export function isSpeaking({ state, nowMs }: Step): boolean {
  const isHeard = heard(state.playback, nowMs).some((one) => one.heardMs < one.sentMs && !isHoldAudio(one.itemId))
  return isAsked(state) || isHeard
}

function isAsked({ answers }: SessionState): boolean {
  return answers.asked !== null || answers.active !== null
}
