import { leftMs, silentMs } from '../playback.ts'
import { ask, exactly } from './asking.ts'
import { playFiller } from './clips.ts'
import { hasParted } from './held-end.ts'
import { playChords } from './holding.ts'
import { isCallerWaiting, isMidAnswer } from './owing.ts'
import { isAwaited } from './party.ts'
import { TIMER_SLACK_MS } from './stall-clock.ts'
import { isOutOfHands, type Step } from './state.ts'
import { bridgeTool } from './tool-wait.ts'

export const STAGES = 3
/** How long nobody may speak while the caller is owed an answer. */
const DEAD_AIR_MS = 2_500
/** How long who has just made a sound is not asked whether they are there: it may have been words. */
const AFTER_SOUND_MS = 2_000
/** How long sounds that follow each other sooner may put that off: a line that clicks all the time says nothing. */
const PUT_OFF_MS = 10_000
export const ASK_IF_THERE = 'The caller has been silent. Ask briefly whether they are still there.'
export const GOODBYE = 'The caller does not answer. Say goodbye in one sentence.'

/**
 * Looked at after each event: the clocks of silence run while nobody speaks and nothing is left to play, that of the caller's own
 * silence not while a tool runs; neither while the agent is muted, others have the call, or the beep of a mailbox is waited for.
 */
export function watchSilence(step: Step): void {
  const { phase, ending, speech, runningTools, asyncTools, answers, isMuted, party, digits, model } = step.state
  const isListening = isMuted || isOutOfHands(step) || isAwaited(step.state)
  const isTheirs = phase === 'talking' && !isListening
  // An assistant that asks the person behind it is silent for longer than a person is.
  const isScreened = party?.phase === 'screening'
  const isAnswered = !answers.asked && !answers.active && answers.queue.length === 0
  // Who was told that something is being looked up waits for it.
  const isToolDone = runningTools.length + asyncTools.length === 0
  const isWaiting = isTheirs && !isScreened && isAnswered && isToolDone
  watchIdle(step, { isQuiet: isWaiting && !speech, isHeldUp: isWaiting && speech !== null && !speech.counts })
  // Whoever speaks while no model hears them is told by a sound that somebody is there, and so is who has heard nobody yet.
  const isHere = (phase === 'talking' || phase === 'waiting') && !ending && !isListening && !hasParted(step.state)
  const isLost = !model.isReady && isHere && !isScreened && !party?.isSpeaking
  const isOwed = isCallerWaiting(step.state) || isMidAnswer(step)
  // Nor is who presses keys waiting: what is owed is held back until the entry is complete.
  watchDeadAir(step, !speech && digits === '' && (isLost || (isTheirs && isOwed)))
}

/** `isHeldUp`: a sound is being heard of a silent caller, which is no speech so far: a cough does not begin their silence anew. */
function watchIdle(step: Step, { isQuiet, isHeldUp }: { isQuiet: boolean; isHeldUp: boolean }): void {
  const { idleArmed, idleDueMs, idleHeldUntilMs } = step.state
  if (idleHeldUntilMs !== null && !isQuiet && !isHeldUp) step.set({ idleHeldUntilMs: null })
  if (isQuiet === idleArmed) return
  if (isQuiet) return armIdle(step)
  step.set({ idleArmed: false, idleHeldUntilMs: isHeldUp ? idleDueMs : null })
  step.do({ type: 'disarm', timer: 'idle' })
}

function armIdle(step: Step): void {
  const { plan, playback, idleHeldUntilMs } = step.state
  const dueMs = idleHeldUntilMs ?? step.nowMs + leftMs(playback, step.nowMs) + plan.idle.afterMs / STAGES
  const leastMs = idleHeldUntilMs === null || step.nowMs - dueMs >= PUT_OFF_MS ? 1 : AFTER_SOUND_MS
  const ms = Math.max(leastMs, dueMs - step.nowMs)
  step.set({ idleArmed: true, idleDueMs: dueMs, idleHeldUntilMs: null })
  step.do({ type: 'arm', timer: 'idle', ms })
}

function watchDeadAir(step: Step, isOwing: boolean): void {
  const { deadAirArmed, playback } = step.state
  if (isOwing === deadAirArmed) return
  step.set({ deadAirArmed: isOwing })
  if (!isOwing) return step.do({ type: 'disarm', timer: 'dead_air' })
  step.do({ type: 'arm', timer: 'dead_air', ms: leftMs(playback, step.nowMs) + DEAD_AIR_MS })
}

/**
 * Nobody has spoken for long, and the caller is owed an answer: a filler tells that somebody is there, or a sound where there is none.
 * Whatever becomes of it, the next silence is bridged as well. Nothing has passed of a silence that was ended meanwhile.
 */
export function deadAir(step: Step): void {
  if (!step.state.deadAirArmed || hasGoneOn(step)) return
  step.set({ deadAirArmed: false })
  step.do({ type: 'note', note: { type: 'dead_air' } })
  if (step.state.runningTools.length > 0) bridgeTool(step)
  // Before the first words a filler is out of place.
  else if (step.state.phase === 'waiting' || !playFiller(step)) playChords(step)
}

/** The clock runs through the whole of an answer, whose audio does not set it anew: more has been heard since. */
function hasGoneOn(step: Step): boolean {
  const { plan, playback } = step.state
  const quietMs = plan.bridgesGaps ? silentMs(playback, step.nowMs) : Number.POSITIVE_INFINITY
  const isHeard = quietMs < DEAD_AIR_MS - TIMER_SLACK_MS
  if (isHeard) step.do({ type: 'arm', timer: 'dead_air', ms: DEAD_AIR_MS - quietMs })
  return isHeard
}

/**
 * A third of the permitted silence has passed: the agent asks, asks again, says goodbye. Nothing has passed of one that a key has ended,
 * whose clock is set anew when the caller is silent again.
 */
export function silencePassed(step: Step): void {
  const { idleStage, idleArmed, plan } = step.state
  if (!idleArmed) return
  step.set({ idleStage: idleStage + 1, idleArmed: false })
  const isLast = idleStage + 1 >= STAGES
  const text = isLast ? plan.idle.goodbye : plan.idle.prompts[idleStage]
  const words = text ? exactly(text) : { instructions: isLast ? GOODBYE : ASK_IF_THERE }
  ask(step, { why: isLast ? 'goodbye' : 'idle', ...words, thenEnd: isLast ? 'idle_timeout' : null })
}
