import { leftMs } from '../playback.ts'
import { stopHoldAudio } from './interrupting.ts'
import { ownId } from './own-audio.ts'
import { isOthers, type SessionState, type Step } from './state.ts'
import { hasWritten } from './voicing.ts'

/** So much of what is heard on hold goes to the carrier at a time: whole pieces of 480 ms. */
const STRETCH_MS = 4_800
/** Each stretch is there so long before the one before it has played. */
export const LEAD_MS = 200

/** Plays the `count`th stretch, from 0, by this id, and comes back before it is over. */
export function playStretch(step: Step, id: string, count: number): void {
  const { plan, playback } = step.state
  const fromMs = (count % Math.ceil(plan.holdMs / STRETCH_MS)) * STRETCH_MS
  const ms = Math.min(STRETCH_MS, plan.holdMs - fromMs)
  const waitMs = leftMs(playback, step.nowMs) + ms - LEAD_MS
  step.do({ type: 'play_hold', id, fromMs, ms }, { type: 'arm', timer: 'hold', ms: Math.max(LEAD_MS, waitMs) })
}

/** An answer, or a tool, takes long, and there are no words to bridge that: a short sound tells that somebody is there. */
export function playChords(step: Step): void {
  const toolHolds = step.state.toolHolds + 1
  step.set({ toolHolds })
  step.do({ type: 'play_chords', id: ownId('wait', toolHolds) })
}

/** Whether keys that the agent presses are heard: not where others have the call, nor while it has no stream. */
export function mayPressKeys(state: SessionState): boolean {
  return !isOthers(state) && state.phase !== 'detached'
}

/**
 * The agent presses keys: they are heard behind what it has said, and in place of what is heard while it takes long. What follows
 * does not cut them off.
 */
export function pressKeys(step: Step, { keys }: { keys: string }): void {
  if (mayPressKeys(step.state)) step.set({ dueKeys: step.state.dueKeys + keys })
}

/**
 * Looked at after each event: words that another voice speaks become sound only after the model has pressed the keys behind them.
 * True where keys are pressed now, whose tones are not sent yet: silence on the line is no end of what is said then.
 */
export function pressDueKeys(step: Step): boolean {
  const { dueKeys: keys } = step.state
  if (keys === '' || hasWritten(step)) return false
  step.set({ dueKeys: '' })
  stopHoldAudio(step)
  const presses = step.state.presses + 1
  step.set({ presses })
  step.do({ type: 'play_keys', id: ownId('keys', presses), keys })
  return true
}
