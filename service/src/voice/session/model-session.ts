import type { ModelFault } from '../../platform/realtime/port.ts'
import { KEPT_MS } from '../caller-audio.ts'
import { askFirst, askNext } from './asking.ts'
import { awaitNoSounds } from './awaited-sounds.ts'
import { callOffUnknown } from './calling-off.ts'
import { stillToSay } from './disclosing.ts'
import { giveUp } from './giving-up.ts'
import { history, toldWhole } from './history.ts'
import { awaitPerson, hadPerson } from './lost-person.ts'
import { countFailure, endOutage, hasFallback, isOutForLong, isTooMuch, reconnectMs, setupMs } from './outage.ts'
import { greetingOf, pickUp } from './picking-up.ts'
import { armStall, owesAnswer } from './stall-clock.ts'
import { isOutOfHands, type Step } from './state.ts'
import { dropIfSilent } from './stopped.ts'
import { awaitMissedWords, carryOver } from './unsaid.ts'

/** Answers that may stall, one after the other: behind the first it is asked once more, behind the second a new session is. */
export const MAX_STALLS = 2
const WORDS_LOST = "system: The line was interrupted. The caller's last words were lost."

/** Opens a model session, the first or one in place of another. */
export function openModel(step: Step): void {
  const { model, transcript, hasMissedWords } = step.state
  const epoch = model.epoch + 1
  const last = [hasMissedWords ? WORDS_LOST : '', stillToSay(step.state)]
  const soFar = [history(transcript), ...last].filter((text) => text !== '').join('\n')
  step.set({
    model: { ...model, epoch, isReady: false, isGivenUp: false },
    renewalDue: false,
    transcript: toldWhole(transcript),
  })
  step.do(
    { type: 'disarm', timer: 'renewal' },
    { type: 'disarm', timer: 'reconnect' },
    { type: 'open_model', epoch, history: soFar === '' ? null : soFar },
    { type: 'arm', timer: 'model_setup', ms: setupMs(step) },
  )
}

/** The model session is set up: what was kept of the caller's audio goes to it first, then whoever waits is asked for. */
export function modelReady(step: Step): void {
  const { model, plan, phase } = step.state
  const { heardSinceMs, isDeafened } = heardMeanwhile(step)
  step.set({
    hasMissedWords: step.state.hasMissedWords || isDeafened,
    model: {
      ...{ ...model, isReady: true, heardSinceMs, onsetMovedMs: 0, readyAtMs: step.nowMs },
      ...{ downSinceMs: null, deafSinceMs: null },
    },
  })
  step.do(
    { type: 'disarm', timer: 'model_setup' },
    { type: 'open_uplink' },
    { type: 'arm', timer: 'renewal', ms: plan.modelSessionMs },
  )
  awaitMissedWords(step)
  if (phase === 'waiting') greet(step)
  askNext(step)
  if (!owesAnswer(step) && !step.state.answers.isHeld) endStall(step)
}

/** From when on the new session hears what was kept of the caller. In a long outage more was said than is kept, as a rule. */
function heardMeanwhile({ state: { model }, nowMs }: Step): { heardSinceMs: number; isDeafened: boolean } {
  const downSinceMs = model.downSinceMs ?? nowMs
  const keptSinceMs = nowMs - KEPT_MS
  return {
    heardSinceMs: Math.max(model.deafSinceMs ?? nowMs, keptSinceMs),
    isDeafened: model.outSinceMs !== null && downSinceMs < keptSinceMs,
  }
}

/**
 * The conversation begins, or goes on from what an earlier session has left, unless it is over with the words that wait already, as
 * those for a mailbox.
 */
export function greet(step: Step): void {
  step.set({ phase: 'talking' })
  step.do({ type: 'note', note: { type: 'state', state: 'talking' } })
  if (step.state.answers.queue.some(({ thenEnd }) => thenEnd !== null)) return
  if (hadPerson(step.state.resumption?.turns ?? [])) return awaitPerson(step)
  if (pickUp(step)) return
  step.set({ greetingAtMs: step.nowMs })
  askFirst(step, greetingOf(step.state.plan))
}

/** Nothing is owed any more. */
function endStall(step: Step): void {
  step.set({ stall: null })
  step.do({ type: 'disarm', timer: 'stall' })
}

/** The model session is gone, or was never had: a new one takes its place unless trying again cannot help. */
export function modelLost(step: Step, fault: ModelFault): void {
  countFailure(step)
  const isHopeless = fault === 'fatal' || fault === 'setup' || isTooMuch(step)
  // Whoever is to be put through is better off so than with an agent for whom no model can be had.
  if (!isHopeless || hasFallback(step)) callOffUnknown(step)
  leave(step)
  if (isHopeless) return giveModelUp(step)
  if (hasNothingToSay(step)) return
  const waitMs = reconnectMs(step)
  if (waitMs === 0) openModel(step)
  else step.do({ type: 'arm', timer: 'reconnect', ms: waitMs })
  armStall(step)
}

/** The next try has waited for its time. */
export function tryAgain(step: Step): void {
  if (isOutForLong(step)) giveModelUp(step)
  else openModel(step)
}

/**
 * The call's model stays away: the other one takes its place where there is one, once in a call; else the call is given up.
 *
 * @param stalls how often the caller was kept waiting by then: who has waited that long waits for one answer more.
 */
export function giveModelUp(step: Step, stalls = 0): void {
  const { plan, ending } = step.state
  if (!hasFallback(step) || ending || isOutOfHands(step)) return giveUp(step)
  leave(step)
  const { model } = step.state
  step.set({
    model: {
      ...{ ...model, isFallback: true, failedAtMs: [], droppedAtMs: [] },
      ...{ outSinceMs: null, downSinceMs: step.nowMs, limitedUntilMs: 0 },
    },
    plan: { ...plan, price: plan.fallback?.price ?? null },
    ...{ stall: null, earlierStalls: stalls },
  })
  step.setAnswers({ isHeld: false })
  step.do({ type: 'disarm', timer: 'retry' })
  openModel(step)
}

/** A session that answers nothing is replaced: by the other model, where there is one. */
export function replaceOrGiveUp(step: Step, stalls = 0): void {
  if (hasFallback(step)) giveModelUp(step, stalls)
  else replaceModel(step)
}

/**
 * Leaves a model that has stalled so often, as far as it has come with that. It is given up only where a new session was tried since: answers
 * that failed count as well, and were asked again of the same one. False where it is to be asked once more.
 */
export function leaveStalled(step: Step, stalls: number): boolean {
  const { model, stallEpoch } = step.state
  if (stalls < MAX_STALLS) return false
  if (stalls > MAX_STALLS && model.epoch !== stallEpoch) giveModelUp(step, MAX_STALLS)
  else replaceOrGiveUp(step, MAX_STALLS)
  return true
}

/** The call is ending, and its last words were said. */
function hasNothingToSay({ state }: Step): boolean {
  return state.ending !== null && state.answers.queue.length === 0
}

/** Puts a new session in the place of one that does not answer. */
export function replaceModel(step: Step): void {
  // Where it is there, this is no part of an outage before it: the next one has all the time of a first.
  endOutage(step)
  callOffUnknown(step)
  leave(step)
  if (hasNothingToSay(step)) return
  openModel(step)
  armStall(step)
}

/** Leaves a session for good: what it was asked for and did not say is asked of the next one. */
function leave(step: Step): void {
  const { model } = step.state
  const { downSinceMs, deafSinceMs } = model
  const since = { downSinceMs: downSinceMs ?? step.nowMs, deafSinceMs: deafSinceMs ?? step.nowMs }
  step.set({ model: { ...model, isReady: false, next: null, ...since } })
  if (model.next) step.do({ type: 'close_next' })
  step.do({ type: 'hold_uplink' }, { type: 'close_model' })
  for (const timer of ['model_setup', 'reconnect', 'renewal', 'stall', 'padding', 'missed_words', 'words'] as const) {
    step.do({ type: 'disarm', timer })
  }
  // Whether it was words is known to nobody any more.
  dropIfSilent(step)
  awaitNoSounds(step)
  carryOver(step)
}
