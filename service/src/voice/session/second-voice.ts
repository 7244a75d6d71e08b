import { assertNever } from '../../kernel/errors.ts'
import type { ModelEvent } from '../../platform/realtime/port.ts'
import type { VoiceEvent } from '../../platform/speech/streamed-port.ts'
import { audioDone, concluded } from './answering.ts'
import type { Active } from './answers.ts'
import { askFirst, changeActive } from './asking.ts'
import { keepStalls } from './earlier-stalls.ts'
import { letterEnds } from './spoken-words.ts'
import { armStall } from './stall-clock.ts'
import type { Step } from './state.ts'
import { change, find } from './transcript.ts'
import { dropUnspoken } from './unspoken.ts'
import type { VoiceStreamState } from './voice-stream.ts'
import { changeVoice, closeVoice, flushVoice, giveWords, isVoiced } from './voicing.ts'
import { agentWords } from './words.ts'

type Written = Extract<ModelEvent, { type: 'agent_text' }>

/**
 * The model writes. What was asked for so is spoken by the secondary provider as it comes; words in place of audio are heard by
 * nobody.
 */
export function wrote(step: Step, event: Written): void {
  const { active } = step.state.answers
  if (active?.responseId !== event.responseId) return
  const isNew = !active.writtenItemIds.includes(event.itemId)
  if (isNew) changeActive(step, { writtenItemIds: [...active.writtenItemIds, event.itemId] })
  if (active.isCancelled || !isVoiced(step, active)) return
  const itemId = active.writtenItemIds[0] ?? event.itemId
  // The end of an item holds its words once more.
  const text = event.final && !isNew ? '' : event.text
  if (text !== '') words(step, { ...event, itemId }, isNew && itemId !== event.itemId ? ` ${text}` : text)
  if (event.final) flushVoice(step)
}

/** A message in several items is one utterance: of the first. */
function words(step: Step, { responseId, itemId }: Pick<Written, 'responseId' | 'itemId'>, text: string): void {
  agentWords(step, { type: 'agent_transcript', responseId, itemId, text, final: false })
  const { transcript, answers, secondVoice } = step.state
  const voiced = find(transcript, itemId)?.voiced ?? { endsMs: [], isWhole: false }
  const itemIds = answers.active?.writtenItemIds ?? [itemId]
  step.set({ transcript: change(transcript, itemId, { voiced: { ...voiced, itemIds } }) })
  keepStalls(step)
  armStall(step)
  if (secondVoice.isOn) giveWords(step, { responseId, itemId }, text)
}

/** What the secondary provider tells of the stream that there is; all else is late. */
export function onVoice(step: Step, { id, event }: { id: string; event: VoiceEvent }): void {
  const { stream } = step.state.secondVoice
  if (stream?.id !== id) return
  switch (event.type) {
    case 'spoken':
      return spoken(step, stream, event)
    case 'done':
      return allSpoken(step, stream)
    case 'failed':
      return failed(step, stream, event.why === 'idle' && stream.of === null)
    default:
      assertNever(event)
  }
}

function spoken(
  step: Step,
  { of }: VoiceStreamState,
  { text, endsMs }: { text: string; endsMs: readonly number[] },
): void {
  const { transcript } = step.state
  const voiced = of && find(transcript, of.itemId)?.voiced
  if (!voiced) return
  const longer = [...voiced.endsMs, ...letterEnds(text, endsMs)]
  step.set({ transcript: change(transcript, of.itemId, { voiced: { ...voiced, endsMs: longer } }) })
}

/** All of an answer has become sound. A provider that says so of one that is not over, or made no sound at all, has failed. */
function allSpoken(step: Step, stream: VoiceStreamState): void {
  const active = activeOf(step, stream)
  const { of, done } = stream
  if (!of || !done || !active?.hasAudio) return failed(step, stream, of === null)
  const { transcript } = step.state
  const voiced = find(transcript, of.itemId)?.voiced
  if (voiced) step.set({ transcript: change(transcript, of.itemId, { voiced: { ...voiced, isWhole: true } }) })
  changeVoice(step, { stream: null })
  if (done.status === 'completed') audioDone(step, of)
  end(step, stream)
}

/**
 * The secondary provider has failed: the model speaks by itself until the end of the call, so that its voice changes once. An answer
 * that was not begun is asked for again, as audio; of one that was, the model writes its end, and says what had not become sound.
 */
function failed(step: Step, stream: VoiceStreamState, isIdle: boolean): void {
  changeVoice(step, { stream: null, isOn: step.state.secondVoice.isOn && isIdle })
  if (isIdle) return
  step.do({ type: 'note', note: { type: 'voice_lost' } })
  if (stream.of) end(step, stream)
  else askForAudio(step)
}

function askForAudio(step: Step): void {
  const { asked } = step.state.answers
  if (!asked?.isWritten || asked.isAbandoned) return
  step.setAnswers({ asked: { ...asked, isAbandoned: true } })
  askFirst(step, { ...asked.ask, isInPlace: true })
}

/** What waited for the sound of an answer goes on. */
function end(step: Step, stream: VoiceStreamState): void {
  const active = activeOf(step, stream)
  if (active && stream.done) concluded(step, active, stream.done)
}

function activeOf({ state: { answers } }: Step, { of }: VoiceStreamState): Active | null {
  return of !== null && answers.active?.responseId === of.responseId ? answers.active : null
}

/** Looked at after each event: nothing is spoken of an answer that is over, or is not wanted any more. */
export function followVoice(step: Step): void {
  const { stream } = step.state.secondVoice
  if (!stream?.of || step.state.phase === 'ended') return
  const active = activeOf(step, stream)
  if (active && !active.isCancelled) return
  closeVoice(step)
  dropUnspoken(step, stream.of.itemId)
  end(step, stream)
}
