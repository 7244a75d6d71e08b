import type { ModelEvent } from '../../platform/realtime/port.ts'
import { askNext, isAnswering } from './asking.ts'
import { interrupt } from './interrupting.ts'
import { replaceModel } from './model-session.ts'
import type { CallerSpeech, Step } from './state.ts'

type Stopped = Extract<ModelEvent, { type: 'speech_stopped' }>

/** The model's server hears this much of a word before it says that speech has started. */
const ONSET_MS = 100
/** Caller audio that stays away this long in the middle of speech is filled up, so that the turn can end. */
const PADDING_AFTER_MS = 750
const PADDING_MS = 1_000
/** From the end of speech to the turn that it is. */
const COMMIT_WITHIN_MS = 2_000
/** No setting lets a caller be silent for longer than this in the middle of a turn. */
const LONGEST_PAUSE_MS = 11_000

/** The caller begins to speak. */
export function speechStarted(step: Step, itemId: string): void {
  const overlaps = isAnswering(step)
  const at = { startedAtMs: step.nowMs, stoppedAtMs: null, loudMs: 0, lastLoudAtMs: step.nowMs }
  step.set({ speech: { itemId, ...at, overlaps, counts: null }, hasMissedWords: false })
  step.do({ type: 'disarm', timer: 'missed_words' }, { type: 'arm', timer: 'padding', ms: PADDING_AFTER_MS })
  decide(step)
}

/** Caller audio went by; `loudMs` of it was louder than a line's own noise. */
export function callerAudio(step: Step, loudMs: number): void {
  const { speech } = step.state
  step.set({ lastCallerAudioMs: step.nowMs })
  if (!speech || speech.stoppedAtMs !== null) return
  const lastLoudAtMs = loudMs > 0 ? step.nowMs : speech.lastLoudAtMs
  step.set({ speech: { ...speech, loudMs: speech.loudMs + loudMs, lastLoudAtMs } })
  decide(step)
}

/** Once the caller has spoken long enough to mean it the agent falls silent. */
function decide(step: Step): void {
  const { speech } = step.state
  if (!speech || speech.counts !== null || !isMeant(step, speech)) return
  step.set({ speech: { ...speech, counts: true } })
  interrupt(step)
}

/** Whether speech is more than a cough, and not one that the greeting is guarded against. */
export function isMeant(step: Step, { loudMs }: CallerSpeech): boolean {
  return loudMs + ONSET_MS >= step.state.plan.interruption.minSpeechMs && !isGuarded(step)
}

/** The greeting is guarded from the question for it until it has sounded for the agent's guard time. */
function isGuarded({ state, nowMs }: Step): boolean {
  const { plan, greetedAtMs, answers } = state
  const isComing = (answers.asked ?? answers.active?.asked)?.ask.why === 'greeting'
  if (greetedAtMs === null) return isComing && plan.interruption.greetingGuardMs > 0
  return nowMs < greetedAtMs + plan.interruption.greetingGuardMs
}

/** The caller has fallen silent. The turn follows at once, unless the model is gone. */
export function speechStopped(step: Step, stopped: Stopped): void {
  const { speech } = step.state
  if (!speech || speech.itemId !== stopped.itemId) return
  decide(step)
  const counts = step.state.speech?.counts ?? false
  step.set({ speech: { ...speech, counts, stoppedAtMs: step.nowMs } })
  step.do({ type: 'arm', timer: 'padding', ms: COMMIT_WITHIN_MS })
}

/**
 * No audio of the caller for a while, in the middle of speech: silence is filled in, so that the turn can end. A model that
 * does not end the turn of a caller who has been silent for long does not hear us any more.
 */
export function padIfMuted(step: Step): void {
  const { speech, lastCallerAudioMs, plan } = step.state
  if (!speech) return
  const isDeaf = step.nowMs - speech.lastLoudAtMs >= Math.max(plan.modelStallMs, LONGEST_PAUSE_MS)
  if (isDeaf || speech.stoppedAtMs !== null) return replaceModel(step)
  const quietMs = step.nowMs - Math.max(lastCallerAudioMs, speech.startedAtMs)
  const isMuted = quietMs >= PADDING_AFTER_MS
  if (isMuted) step.do({ type: 'pad', ms: PADDING_MS })
  step.do({ type: 'arm', timer: 'padding', ms: isMuted ? PADDING_MS : PADDING_AFTER_MS - quietMs })
}

/** The caller's speech is over: whoever waited for its end may be asked for. */
export function speechOver(step: Step): void {
  step.set({ speech: null })
  step.do({ type: 'disarm', timer: 'padding' })
  askNext(step)
}
