import { ask, exactly } from './asking.ts'
import { beginEnding, hangUp } from './ending.ts'
import type { EndReason } from './events.ts'
import { addNote } from './keeping.ts'
import type { Step } from './state.ts'

/** The agent says that, word for word. */
export function say(step: Step, { text }: { text: string }): void {
  ask(step, { why: 'say', ...exactly(text), thenEnd: null })
}

/** The agent is told that, and the caller is not. */
export function whisper(step: Step, { text }: { text: string }): void {
  addNote(step, 'supervisor', { text, isKept: true })
  step.command({ type: 'system_message', text })
}

/** The call is to end. A supervisor means now; a server that is to stop lets the agent finish its sentence, if anybody hears it. */
export function endCall(step: Step, { reason }: { reason: EndReason }): void {
  const { phase, detached } = step.state
  const isUnheard = phase === 'detached' && !detached?.isHandedOver
  beginEnding(step, reason, true)
  if (reason === 'supervisor' || isUnheard) hangUp(step)
}

/** The recording leaves out what is said from now on, or has it again. */
export function pauseRecording(step: Step, { isPaused }: { isPaused: boolean }): void {
  if (step.state.isRecordingPaused === isPaused) return
  step.set({ isRecordingPaused: isPaused })
  step.do({ type: 'pause_recording', isPaused })
}
