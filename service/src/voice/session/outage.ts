import { GIVE_UP_MS, TIMER_SLACK_MS } from './stall-clock.ts'
import type { SessionState, Step } from './state.ts'

/** A model session that is not set up within this time has failed. */
export const SETUP_MS = 5_000
/** Where another model waits: so many lost sessions within the window, or `SETUP_MS` without one, and the call's own is given up. */
const MAX_FAILURES = 3
const FAILURE_WINDOW_MS = 10_000
/** How long each new try waits; all later ones as long as the last. */
const RECONNECT_MS = [0, 300, 1_000, 2_000, 3_000]
/** All calls of a provider lose their sessions at once: the later tries are spread over this. */
const JITTER_MS = 200
/** So many sessions lost that were there, within so long, and it comes and goes: what it says between is no conversation. */
const MAX_FLAPS = 10
const FLAPPING_MS = 60_000
/** A session that was there for so long was no try: the outage that ends it is a new one. */
const STEADY_MS = 5_000

/** Whether another model waits for the call's own to stay away. */
export function hasFallback({ state: { plan, model } }: Pick<Step, 'state'>): boolean {
  return !!plan.fallback && !model.isFallback
}

/** A session is lost, or could not be had. To be called before it is left. */
export function countFailure(step: Step): void {
  const { nowMs } = step
  const { model } = step.state
  const failedAtMs = [...model.failedAtMs.filter((atMs) => nowMs - atMs < GIVE_UP_MS), nowMs]
  const dropped = model.droppedAtMs.filter((atMs) => nowMs - atMs < FLAPPING_MS)
  const droppedAtMs = model.isReady ? [...dropped, nowMs] : dropped
  const isSteady = model.isReady && nowMs - model.readyAtMs >= STEADY_MS
  const sinceMs = isSteady ? nowMs : (outSinceMs(step.state) ?? nowMs)
  step.set({ model: { ...model, failedAtMs, droppedAtMs, outSinceMs: sinceMs } })
}

function outSinceMs({ model }: SessionState): number | null {
  return model.outSinceMs ?? model.downSinceMs
}

/** The model has answered to the end, or is there and another one takes its place: whatever was lost before, that is over. */
export function endOutage(step: Step): void {
  const { model } = step.state
  if (model.isReady && model.outSinceMs !== null) step.set({ model: { ...model, outSinceMs: null } })
}

/** Whether the model that is looked for is given up: where no other one waits, an outage of seconds ends no call. */
export function isTooMuch(step: Step): boolean {
  const { failedAtMs, downSinceMs, droppedAtMs } = step.state.model
  if (droppedAtMs.length >= MAX_FLAPS) return true
  if (!hasFallback(step)) return isOutForLong(step)
  const failures = failedAtMs.filter((atMs) => step.nowMs - atMs < FAILURE_WINDOW_MS).length
  return failures >= MAX_FAILURES || step.nowMs - (downSinceMs ?? step.nowMs) >= SETUP_MS - TIMER_SLACK_MS
}

/** Whether a try that has waited comes too late. */
export function isOutForLong(step: Step): boolean {
  return !hasFallback(step) && leftMs(step) <= TIMER_SLACK_MS
}

/** How long the model is looked for yet. */
function leftMs(step: Step): number {
  if (hasFallback(step)) return Number.POSITIVE_INFINITY
  return (outSinceMs(step.state) ?? step.nowMs) + GIVE_UP_MS - step.nowMs
}

/** How long a session may take to be set up. */
export function setupMs(step: Step): number {
  return Math.max(1, Math.min(SETUP_MS, leftMs(step)))
}

/** How long the next try waits. */
export function reconnectMs(step: Step): number {
  const { limitedUntilMs, failedAtMs } = step.state.model
  const pauseMs = RECONNECT_MS[Math.min(failedAtMs.length, RECONNECT_MS.length) - 1] ?? 0
  const jitterMs = pauseMs === 0 ? 0 : Math.floor(step.nowMs) % JITTER_MS
  return Math.min(Math.max(pauseMs + jitterMs, limitedUntilMs - step.nowMs, 0), leftMs(step))
}
