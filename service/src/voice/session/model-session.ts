import type { ModelFault } from '../../platform/realtime/port.ts'
import { KEPT_MS } from '../caller-audio.ts'
import { askFirst, askNext } from './asking.ts'
import { giveUp } from './giving-up.ts'
import { history, toldWhole } from './history.ts'
import { awaitPerson, hadPerson } from './lost-person.ts'
import { greetingOf, pickUp } from './picking-up.ts'
import { armStall, owesAnswer, TIMER_SLACK_MS } from './stall-clock.ts'
import { isOutOfHands, type Step } from './state.ts'
import { dropIfSilent } from './stopped.ts'
import { awaitMissedWords, carryOver } from './unsaid.ts'

/** A model session that is not set up within this time has failed. */
export const SETUP_MS = 5_000
/** This many lost sessions within the window, or this long without one, and the model is given up. */
const MAX_FAILURES = 3
const FAILURE_WINDOW_MS = 10_000
/** How long the first, second and third new try wait. */
const RECONNECT_MS = [0, 300, 1_000]
/** All calls of a provider lose their sessions at once: the later tries are spread over this. */
const JITTER_MS = 200

const WORDS_LOST = "system: The line was interrupted. The caller's last words were lost."

/** Opens a model session, the first or one in place of another. */
export function openModel(step: Step): void {
  const { model, transcript, hasMissedWords } = step.state
  const epoch = model.epoch + 1
  const soFar = [history(transcript), hasMissedWords ? WORDS_LOST : ''].filter((text) => text !== '').join('\n')
  step.set({
    model: { ...model, epoch, isReady: false, isGivenUp: false },
    renewalDue: false,
    transcript: toldWhole(transcript),
  })
  step.do(
    { type: 'disarm', timer: 'renewal' },
    { type: 'disarm', timer: 'reconnect' },
    { type: 'open_model', epoch, history: soFar === '' ? null : soFar },
    { type: 'arm', timer: 'model_setup', ms: SETUP_MS },
  )
}

/** The model session is set up: what was kept of the caller's audio goes to it first, then whoever waits is asked for. */
export function modelReady(step: Step): void {
  const { model, plan, phase } = step.state
  const heardSinceMs = Math.max(model.downSinceMs ?? step.nowMs, step.nowMs - KEPT_MS)
  step.set({
    model: { ...model, isReady: true, heardSinceMs, onsetMovedMs: 0, readyAtMs: step.nowMs, downSinceMs: null },
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
  const { model } = step.state
  const failedAtMs = [...model.failedAtMs.filter((atMs) => step.nowMs - atMs < FAILURE_WINDOW_MS), step.nowMs]
  leave(step)
  step.set({ model: { ...step.state.model, failedAtMs } })
  const isHopeless = fault === 'fatal' || fault === 'setup'
  if (isHopeless || isTooMuch(step, failedAtMs.length)) return giveModelUp(step)
  if (hasNothingToSay(step)) return
  const waitMs = reconnectMs(step, failedAtMs.length)
  if (waitMs === 0) openModel(step)
  else step.do({ type: 'arm', timer: 'reconnect', ms: waitMs })
  armStall(step)
}

/** Where another model waits, it does so for less long. */
function isTooMuch(step: Step, failures: number): boolean {
  const downMs = step.nowMs - (step.state.model.downSinceMs ?? step.nowMs)
  if (hasFallback(step)) return failures >= MAX_FAILURES || downMs >= SETUP_MS - TIMER_SLACK_MS
  return failures > MAX_FAILURES || downMs >= FAILURE_WINDOW_MS
}

function hasFallback({ state: { plan, model } }: Step): boolean {
  return !!plan.fallback && !model.isFallback
}

/** The call's model stays away: the other one takes its place where there is one, once in a call; else the call is given up. */
export function giveModelUp(step: Step): void {
  const { plan, ending } = step.state
  if (!hasFallback(step) || ending || isOutOfHands(step)) return giveUp(step)
  leave(step)
  const { model } = step.state
  step.set({
    model: { ...model, isFallback: true, failedAtMs: [], downSinceMs: step.nowMs, limitedUntilMs: 0 },
    plan: { ...plan, price: plan.fallback?.price ?? null },
    stall: null,
  })
  step.setAnswers({ isHeld: false })
  step.do({ type: 'disarm', timer: 'retry' })
  openModel(step)
}

/** A session that answers nothing is replaced: by the other model, where there is one. */
export function replaceOrGiveUp(step: Step): void {
  if (hasFallback(step)) giveModelUp(step)
  else replaceModel(step)
}

/** The call is ending, and its last words were said. */
function hasNothingToSay({ state }: Step): boolean {
  return state.ending !== null && state.answers.queue.length === 0
}

function reconnectMs(step: Step, failures: number): number {
  const { limitedUntilMs } = step.state.model
  const pauseMs = RECONNECT_MS[failures - 1] ?? 0
  const jitterMs = pauseMs === 0 ? 0 : Math.floor(step.nowMs) % JITTER_MS
  return Math.max(pauseMs + jitterMs, limitedUntilMs - step.nowMs, 0)
}

/** Puts a new session in the place of one that does not answer. */
export function replaceModel(step: Step): void {
  leave(step)
  if (hasNothingToSay(step)) return
  openModel(step)
  armStall(step)
}

/** Leaves a session for good: what it was asked for and did not say is asked of the next one. */
function leave(step: Step): void {
  const { model } = step.state
  step.set({ model: { ...model, isReady: false, next: null, downSinceMs: model.downSinceMs ?? step.nowMs } })
  if (model.next) step.do({ type: 'close_next' })
  step.do({ type: 'hold_uplink' }, { type: 'close_model' })
  for (const timer of ['model_setup', 'reconnect', 'renewal', 'stall', 'padding', 'missed_words', 'words'] as const) {
    step.do({ type: 'disarm', timer })
  }
  // Whether it was words is known to nobody any more.
  dropIfSilent(step)
  carryOver(step)
}
