import { leftMs } from '../playback.ts'
import { ask, exactly } from './asking.ts'
import { playFiller } from './clips.ts'
import { playChords } from './holding.ts'
import { isCallerWaiting } from './owing.ts'
import { isAwaited } from './party.ts'
import { isOutOfHands, type Step } from './state.ts'

export const STAGES = 3
/** How long nobody may speak while the caller is owed an answer. */
const DEAD_AIR_MS = 2_500
export const ASK_IF_THERE = 'The caller has been silent. Ask briefly whether they are still there.'
export const GOODBYE = 'The caller does not answer. Say goodbye in one sentence.'

/**
 * Looked at after each event: the clocks of silence run while nobody speaks, nothing is left to play and no tool runs; not while
 * the agent is muted, others have the call, or the beep of a mailbox is waited for.
 */
export function watchSilence(step: Step): void {
  const { phase, speech, runningTools, asyncTools, answers, isMuted, party, digits } = step.state
  const isListening = isMuted || isOutOfHands(step) || isAwaited(step.state)
  const isOpen = phase === 'talking' && !speech && runningTools.length === 0 && !isListening
  // An assistant that asks the person behind it is silent for longer than a person is.
  const isScreened = party?.phase === 'screening'
  const isAnswered = !answers.asked && !answers.active && answers.queue.length === 0
  // Who was told that something is being looked up waits for it.
  watchIdle(step, isOpen && !isScreened && isAnswered && asyncTools.length === 0)
  // Nor is who presses keys waiting: what is owed is held back until the entry is complete.
  watchDeadAir(step, isOpen && digits === '' && isCallerWaiting(step.state))
}

function watchIdle(step: Step, isQuiet: boolean): void {
  const { idleArmed, plan, playback } = step.state
  if (isQuiet === idleArmed) return
  step.set({ idleArmed: isQuiet })
  if (!isQuiet) return step.do({ type: 'disarm', timer: 'idle' })
  step.do({ type: 'arm', timer: 'idle', ms: leftMs(playback, step.nowMs) + plan.idle.afterMs / STAGES })
}

function watchDeadAir(step: Step, isOwing: boolean): void {
  const { deadAirArmed, playback } = step.state
  if (isOwing === deadAirArmed) return
  step.set({ deadAirArmed: isOwing })
  if (!isOwing) return step.do({ type: 'disarm', timer: 'dead_air' })
  step.do({ type: 'arm', timer: 'dead_air', ms: leftMs(playback, step.nowMs) + DEAD_AIR_MS })
}

/** Nobody has spoken for long, and the caller is owed an answer: a filler tells that somebody is there, or a sound where there is none. */
export function deadAir(step: Step): void {
  step.do({ type: 'note', note: { type: 'dead_air' } })
  if (!playFiller(step)) playChords(step)
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
  const instructions = text ? exactly(text) : isLast ? GOODBYE : ASK_IF_THERE
  ask(step, { why: isLast ? 'goodbye' : 'idle', instructions, thenEnd: isLast ? 'idle_timeout' : null })
}
