import type { ModelEvent } from '../../platform/realtime/port.ts'
import type { Active } from './answers.ts'
import type { Step } from './state.ts'
import type { SecondVoice } from './voice-stream.ts'

type Done = Extract<ModelEvent, { type: 'response_done' }>
/** Of what will not be told any more. */
const NO_USAGE = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 }

type Place = { responseId: string; itemId: string }

/** Whether an answer is written, for the secondary provider to speak it. */
export function isVoiced({ state }: Step, { asked }: Active): boolean {
  if (!state.plan.secondVoice) return false
  return asked ? asked.isWritten === true : state.secondVoice.isOn
}

/** A stream is opened for the answer that is asked for now, so that it is there when the first word is; one that was not used serves. */
export function openVoice(step: Step): void {
  const { isOn, stream, count } = step.state.secondVoice
  if (!isOn || stream) return
  const id = `voice-${count + 1}`
  changeVoice(step, { count: count + 1, stream: { id, of: null, done: null } })
  step.do({ type: 'open_voice', id })
}

/** Words of an answer go to its stream as they come. */
export function giveWords(step: Step, of: Place, text: string): void {
  openVoice(step)
  const { stream, characters } = step.state.secondVoice
  if (!stream || (stream.of === null && text.trim() === '')) return
  changeVoice(step, { characters: characters + text.length, stream: { ...stream, of: stream.of ?? of } })
  step.do({ type: 'speak', id: stream.id, ...of, text })
}

/** No more words of an item are to come. */
export function flushVoice(step: Step): void {
  const { stream } = step.state.secondVoice
  if (stream?.of) step.do({ type: 'flush_voice', id: stream.id })
}

/** Nothing more of a stream is wanted. */
export function closeVoice(step: Step): void {
  const { stream } = step.state.secondVoice
  if (!stream) return
  changeVoice(step, { stream: null })
  step.do({ type: 'cut_voice', id: stream.id })
}

/** A stream that waits for its first word is not wanted: it was opened for who does not speak any more. */
export function closeUnusedVoice(step: Step): void {
  if (step.state.secondVoice.stream?.of === null) closeVoice(step)
}

/** An answer is over at the model; it is the agent's until all of it has become sound. False where none of it becomes any. */
export function isHeldForVoice(step: Step, { responseId, isCancelled }: Active, done: Done): boolean {
  const { stream } = step.state.secondVoice
  const isUnwanted = isCancelled || done.status === 'cancelled' || done.fault === 'fatal'
  if (stream?.of?.responseId !== responseId || isUnwanted) return false
  changeVoice(step, { stream: { ...stream, done } })
  step.do({ type: 'end_voice', id: stream.id }, { type: 'disarm', timer: 'stall' })
  return true
}

/** The model that writes is left for good: what it has written of an answer by now is spoken to its end. */
export function endWriting(step: Step): void {
  const { active } = step.state.answers
  if (active === null || isOnlySound(step)) return
  const over = { status: 'completed', errorCode: null, fault: null, usage: NO_USAGE } as const
  isHeldForVoice(step, active, { type: 'response_done', responseId: active.responseId, ...over })
}

/** Whether the active answer is over at the model, and only its sound is still to come. */
export function isOnlySound({ state: { secondVoice, answers } }: Step): boolean {
  const { stream } = secondVoice
  return stream !== null && stream.done !== null && stream.of?.responseId === answers.active?.responseId
}

/** Whether words of the active answer will be heard that have become no sound yet. */
export function hasWritten(step: Step): boolean {
  const { active } = step.state.answers
  if (active === null || active.isCancelled || active.asked?.ask.why === 'filler') return false
  return active.writtenItemIds.length > 0 && isVoiced(step, active)
}

/** Changes what is known of the secondary provider's voice. */
export function changeVoice(step: Step, facts: Partial<SecondVoice>): void {
  step.set({ secondVoice: { ...step.state.secondVoice, ...facts } })
}
