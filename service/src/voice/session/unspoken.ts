import type { ModelEvent } from '../../platform/realtime/port.ts'
import { type Heard, sentOf } from '../playback.ts'
import { answerOver } from './answer-over.ts'
import type { Active } from './answers.ts'
import { askFirst, askNext, exactly } from './asking.ts'
import { closeUtterance, deleteItem } from './keeping.ts'
import { soundedUntil } from './spoken-words.ts'
import type { Step } from './state.ts'
import { change, find, type Voiced } from './transcript.ts'
import { isVoiced } from './voicing.ts'

type Done = Extract<ModelEvent, { type: 'response_done' }>

const HEARD_PART = 'You were cut off in what you wrote last. The caller hears only this of it'

/**
 * The secondary provider has failed in an answer: what has become sound of it is heard out, and the model is asked to say the rest
 * itself, word for word. False when there is no rest.
 */
export function sayRest(step: Step, active: Active, done: Done): boolean {
  const [itemId] = active.writtenItemIds
  const isUnwanted = active.isCancelled || done.status === 'cancelled' || done.fault === 'fatal'
  if (itemId === undefined || isUnwanted || !isVoiced(step, active)) return false
  const { hasAudio, asked } = active
  const rest = trimToSound(step, itemId)
  if (rest === '') return false
  if (hasAudio) tellSounded(step, itemId, active.writtenItemIds)
  answerOver(step, active)
  const { why, thenEnd } = asked?.ask ?? { why: 'rest', thenEnd: null }
  // The last words before the call is put through are still the agent's: the transfer waits for them.
  const isInPlace = true as const
  if (why !== 'filler') askFirst(step, { why: hasAudio ? 'rest' : why, ...exactly(rest), thenEnd, isInPlace })
  askNext(step)
  return true
}

/** Takes out of an open entry what has not become sound, and gives it back: the record and the model are told of the rest alone. */
export function trimToSound(step: Step, itemId: string): string {
  const { transcript, playback } = step.state
  const entry = find(transcript, itemId)
  if (!entry?.voiced || entry.isFinal || entry.voiced.isWhole) return ''
  const whole = entry.text + entry.unheard
  const end = soundedUntil(whole, entry.voiced, sentOf(playback, itemId))
  const voiced = { ...entry.voiced, isWhole: true }
  step.set({ transcript: change(transcript, itemId, { text: '', unheard: whole.slice(0, end).trimEnd(), voiced }) })
  return whole.slice(end).trim()
}

/** An answer that is not wanted any more: what was written of it and not spoken is no part of the conversation. */
export function dropUnspoken(step: Step, itemId: string): void {
  const { transcript, playback } = step.state
  const itemIds = find(transcript, itemId)?.voiced?.itemIds ?? []
  const isAudible = playback.utterances.some((u) => u.itemId === itemId)
  if (trimToSound(step, itemId) !== '' && isAudible) tellSounded(step, itemId, itemIds)
}

/** What the caller has not heard of words that were spoken for the model is no part of the conversation: the model is told so. */
export function cutSpoken(step: Step, utterance: Heard, { itemIds }: Voiced): void {
  const { itemId, heardMs } = utterance
  closeUtterance(step, utterance)
  const entry = find(step.state.transcript, itemId)
  if (!entry || entry.unheard === '') return
  step.do({ type: 'note', note: { type: 'interrupted', itemId, heardMs } })
  forget(step, itemIds)
  if (entry.text !== '') step.command({ type: 'system_message', text: `${HEARD_PART}: ${entry.text}` })
}

function tellSounded(step: Step, itemId: string, itemIds: readonly string[]): void {
  forget(step, itemIds)
  const text = find(step.state.transcript, itemId)?.unheard ?? ''
  if (text !== '') step.command({ type: 'system_message', text: `${HEARD_PART}: ${text}` })
}

/** An item that is text cannot be cut: it goes, unless it is gone already, and what was heard of it is told. */
function forget(step: Step, itemIds: readonly string[]): void {
  for (const itemId of itemIds) if (!find(step.state.transcript, itemId)?.isOffChain) deleteItem(step, itemId)
}
