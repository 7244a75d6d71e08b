import type { CallerSpeech } from './caller-speech.ts'
import { isClip } from './clip-id.ts'
import type { Plan } from './plan.ts'
import type { SessionState, Step } from './state.ts'

/** Less than this of a sound tells nothing of how loud the rest of it was. */
const ENOUGH_MS = 100
/** What a server that waits as long as it likes takes for the end of a turn in any case. */
const LONGEST_SILENCE_MS = 8_000
/** So much more, and a second at least, is put behind a turn of which no more will come. */
const BEYOND_SILENCE_MS = 500
const LEAST_SILENCE_MS = 1_000
/** How long ago a sound has begun, and the silence behind it was long enough, as a rule, when the model's server tells of it. */
const USUAL_LAG_MS = 300
const USUAL_END_LAG_MS = 100
/** Beyond this, either way, its count of the audio is not that of the clock. */
const MOST_LAG_MS = 750
/** So long after a session was ready it has heard all that was kept for it. */
const CAUGHT_UP_MS = 2_000

/** Enough silence for the model's server to see the end of a turn in it, whatever it waits for; there is always a second of it. */
export function lastSilenceMs({ hearing }: Plan): number {
  return Math.max(LEAST_SILENCE_MS, (hearing.silenceMs ?? LONGEST_SILENCE_MS) + BEYOND_SILENCE_MS)
}

/**
 * Until when the greeting is guarded: without end while it is still to come. What was said before it was asked for does not
 * stop it in any case, for the caller hears the greeting first.
 */
export function guardUntilMs({ state }: Step): number {
  const { plan, greetingAtMs, greetedAtMs } = state
  const guardMs = plan.interruption.greetingGuardMs
  if (greetedAtMs !== null) return greetedAtMs + guardMs
  const isComing = isGreetingComing(state)
  if (isComing && guardMs > 0) return Number.POSITIVE_INFINITY
  return isComing && greetingAtMs !== null ? greetingAtMs : Number.NEGATIVE_INFINITY
}

function isGreetingComing({ answers }: SessionState): boolean {
  return (answers.asked ?? answers.active?.asked)?.ask.why === 'greeting'
}

/** How much of a stretch of time falls into the greeting's guard, which begins with the question for it. */
export function guardedMs(step: Step, fromMs: number, untilMs: number): number {
  const { plan, greetingAtMs } = step.state
  if (greetingAtMs === null || plan.interruption.greetingGuardMs === 0) return 0
  return Math.max(0, Math.min(untilMs, guardUntilMs(step)) - Math.max(fromMs, greetingAtMs))
}

/**
 * The model counts the audio that it was sent. Of a line that sends nothing while nobody speaks, or that was gone for a while, that is
 * less than has passed, and more where silence was put in its place: a sound that has just begun tells by how much. One that is told
 * late looks as one behind a gap does, until something is told that would not have been heard yet by that.
 */
export function setByOnset(step: Step, audioStartMs: number): void {
  const { model, plan } = step.state
  const positionMs = audioStartMs + plan.hearing.prefixMs
  const atMs = model.heardSinceMs + positionMs
  const lagMs = step.nowMs - atMs
  const isKept = atMs < model.readyAtMs && step.nowMs < model.readyAtMs + CAUGHT_UP_MS
  if (isKept || takeLateOnsetBack(step, positionMs, USUAL_LAG_MS) || Math.abs(lagMs) <= MOST_LAG_MS) return
  const byMs = lagMs - USUAL_LAG_MS
  step.set({ model: { ...model, heardSinceMs: model.heardSinceMs + byMs, onsetMovedMs: Math.max(0, byMs) } })
}

/** The same by the end of the silence behind it, but for silence of ours, which is sent more quickly than it would pass. */
export function setByEnd(step: Step, audioEndMs: number): void {
  if (step.state.phase === 'talking') takeLateOnsetBack(step, audioEndMs, USUAL_END_LAG_MS)
}

/** Nothing is told before it was heard: where it seems so, and would not without the last onset, that was told late. */
function takeLateOnsetBack(step: Step, positionMs: number, usualMs: number): boolean {
  const { model } = step.state
  const { heardSinceMs, onsetMovedMs } = model
  const lagMs = step.nowMs - heardSinceMs - positionMs
  const lagBeforeMs = lagMs + onsetMovedMs
  const isNearer = Math.abs(lagBeforeMs - usualMs) < Math.abs(lagMs - usualMs)
  if (lagMs >= 0 || lagBeforeMs < 0 || lagBeforeMs > MOST_LAG_MS || !isNearer) return false
  step.set({ model: { ...model, heardSinceMs: heardSinceMs - onsetMovedMs, onsetMovedMs: 0 } })
  return true
}

/** When a place in the audio that the model's session was given was heard. */
function soundedAtMs({ state, nowMs }: Step, positionMs: number): number {
  return Math.min(nowMs, state.model.heardSinceMs + positionMs)
}

/**
 * Whether speech began before its model session was ready: it was kept, and what has come since was no answer to it. Whoever spoke
 * over a clip was being spoken to.
 */
export function isKeptSpeech(step: Step, audioStartMs: number): boolean {
  const { model, plan, playback, greetedAtMs } = step.state
  const atMs = soundedAtMs(step, audioStartMs + plan.hearing.prefixMs)
  const wasSpokenTo =
    playback.utterances.some(({ itemId }) => isClip(itemId)) && greetedAtMs !== null && atMs >= greetedAtMs
  return atMs < model.readyAtMs && !wasSpokenTo
}

/** When speech began that was kept for its model session, which was not ready yet; null for any other, which is told as it begins. */
export function keptSinceMs(step: Step, { audioStartMs }: CallerSpeech): number | null {
  const { model, plan } = step.state
  const atMs = soundedAtMs(step, audioStartMs + plan.hearing.prefixMs)
  return atMs < model.readyAtMs ? atMs : null
}

/** When speech that has stopped really ended: its server tells only after a silence. */
export function spokenUntilMs(step: Step, audioEndMs: number): number {
  return soundedAtMs(step, audioEndMs - (step.state.plan.hearing.silenceMs ?? 0))
}

/**
 * How long the caller spoke, but for the greeting's guard, by what the model heard: our own measure begins only when the
 * model has told that there is speech. Where we measured most of it and found little, the model has heard a noise or an echo.
 */
export function spokenMs(step: Step, speech: CallerSpeech, audioEndMs: number): number {
  const { prefixMs, silenceMs } = step.state.plan.hearing
  if (silenceMs === null) return 0
  const fromMs = soundedAtMs(step, speech.audioStartMs + prefixMs)
  const untilMs = spokenUntilMs(step, audioEndMs)
  const measuredMs = untilMs - Math.max(fromMs, speech.startedAtMs)
  const loudShare = measuredMs < ENOUGH_MS ? 1 : Math.min(1, speech.measuredLoudMs / measuredMs)
  return Math.max(0, untilMs - fromMs - guardedMs(step, fromMs, untilMs)) * loudShare
}
