import type { ModelEvent } from '../../platform/realtime/port.ts'
import { askNext, isSpeaking } from './asking.ts'
import { mayBeBackchannel } from './backchannel.ts'
import type { CallerSpeech } from './caller-speech.ts'
import { holdTransfer } from './calling-off.ts'
import type { SessionEvent } from './events.ts'
import { awaitWordsOf } from './going-on.ts'
import { guardedMs, guardUntilMs, isKeptSpeech, setByEnd, setByOnset, spokenMs, spokenUntilMs } from './hearing.ts'
import { interruptFor, stopHoldAudio } from './interrupting.ts'
import { replaceModel } from './model-session.ts'
import type { Step } from './state.ts'

type Started = Extract<ModelEvent, { type: 'speech_started' }>
type Heard = Extract<SessionEvent, { type: 'caller_audio' }>
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
export function speechStarted(step: Step, { itemId, audioStartMs }: Started): void {
  const { nowMs } = step
  setByOnset(step, audioStartMs)
  const overlaps = isSpeaking(step) && !isKeptSpeech(step, audioStartMs)
  const at = {
    audioStartMs,
    startedAtMs: nowMs,
    stoppedAtMs: null,
    untilMs: null,
    endedAtMs: null,
    lastLoudAtMs: nowMs,
  }
  const loudMs = ONSET_MS - guardedMs(step, nowMs - ONSET_MS, nowMs)
  step.set({ speech: { itemId, ...at, loudMs, measuredLoudMs: 0, aloneLoudMs: 0, overlaps, counts: null } })
  step.do({ type: 'disarm', timer: 'missed_words' })
  watchSpeech(step)
  awaitWordsOf(step, itemId)
  decide(step, nowMs)
}

/** Caller audio went by; `loudMs` of it was louder than a line's own noise. */
export function callerAudio(step: Step, { ms, loudMs }: Heard): void {
  const { nowMs } = step
  const { speech } = step.state
  step.set({ lastCallerAudioMs: nowMs })
  if (!speech || speech.stoppedAtMs !== null || loudMs === 0) return
  const countedMs = Math.min(loudMs, ms - guardedMs(step, nowMs - ms, nowMs))
  const aloneLoudMs = speech.aloneLoudMs + (isSpeaking(step) ? 0 : loudMs)
  const measured = { measuredLoudMs: speech.measuredLoudMs + loudMs, aloneLoudMs, lastLoudAtMs: nowMs }
  step.set({ speech: { ...speech, ...measured, loudMs: speech.loudMs + countedMs } })
  decide(step, nowMs)
}

/** Once the caller has spoken long enough to mean it the agent falls silent, but not in the greeting's guard, nor for "mhm". */
function decide(step: Step, heardUntilMs: number): void {
  const { speech } = step.state
  if (!speech || speech.counts !== null) return
  if (heardUntilMs < guardUntilMs(step)) return decideInGuard(step, speech)
  if (!isMeant(step, speech)) return
  if (mayBeBackchannel(step, speech)) return
  step.set({ speech: { ...speech, counts: true } })
  interruptFor(step, speech.itemId)
  holdTransfer(step, [speech.itemId])
}

/** Its words go on; what is heard while a tool takes long is not guarded. */
function decideInGuard(step: Step, { measuredLoudMs }: CallerSpeech): void {
  if (measuredLoudMs >= step.state.plan.interruption.minSpeechMs) stopHoldAudio(step)
}

/** Whether speech is more than a cough, and more than what the greeting is guarded against. */
export function isMeant({ state }: Step, { loudMs }: CallerSpeech): boolean {
  return loudMs > 0 && loudMs >= state.plan.interruption.minSpeechMs
}

/** Whether the caller is in the middle of speech, as far as is known by now: that it only says "go on" is known behind it. */
export function isMidSpeech(step: Step): boolean {
  const { speech } = step.state
  return speech !== null && (speech.counts ?? isMeant(step, speech))
}

/** The caller has fallen silent. The turn follows at once, unless the model is gone. */
export function speechStopped(step: Step, stopped: Stopped): void {
  const { speech } = step.state
  if (!speech || speech.itemId !== stopped.itemId) return
  const { audioEndMs } = stopped
  setByEnd(step, audioEndMs)
  const told = { ...speech, loudMs: Math.max(speech.loudMs, spokenMs(step, speech, audioEndMs)) }
  step.set({ speech: told })
  decide(step, spokenUntilMs(step, audioEndMs))
  const endedAtMs = spokenUntilMs(step, audioEndMs)
  const at = { stoppedAtMs: step.nowMs, untilMs: Math.max(speech.startedAtMs, endedAtMs), endedAtMs }
  step.set({ speech: { ...told, ...at, counts: told.counts ?? isMeant(step, told) } })
  watchSpeech(step)
}

/** Watches over what the caller says until it is a turn. */
function watchSpeech(step: Step): void {
  const { speech } = step.state
  if (!speech) return
  const ms = speech.stoppedAtMs === null ? PADDING_AFTER_MS : COMMIT_WITHIN_MS
  step.do({ type: 'arm', timer: 'padding', ms })
}

/** The caller is heard again after a while in which nobody could: that they were silent meanwhile tells nothing of the model. */
export function goOnHearing(step: Step): void {
  const { speech } = step.state
  if (speech?.stoppedAtMs === null) step.set({ speech: { ...speech, lastLoudAtMs: step.nowMs } })
  watchSpeech(step)
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
