import type { ModelEvent } from '../../platform/realtime/port.ts'
import { MAX_TURN_CHARS } from '../../records/journal-entry.ts'
import { appendEntry, keepEntry, placeEntry } from './keeping.ts'
import type { Step } from './state.ts'
import { change, type Entry, find, newEntry } from './transcript.ts'

type Words = Extract<ModelEvent, { type: 'agent_transcript' }>
type Added = Extract<ModelEvent, { type: 'item_added' }>

/** Every item takes its place in the chain, also those that are no part of the record, because others follow them. */
export function itemAdded(step: Step, { itemId, previousItemId, role }: Added): void {
  const isSpoken = role === 'caller' || role === 'agent'
  const entry = newEntry(itemId, isSpoken ? role : 'system', step.atMs)
  placeEntry(step, isSpoken ? entry : { ...entry, isKept: false, isFinal: true }, previousItemId)
}

/** Words of the agent, as the model writes them down beside its audio. Until they are heard they count as unheard. */
export function agentWords(step: Step, { itemId, responseId, text, final }: Words): void {
  if (!find(step.state.transcript, itemId)) appendEntry(step, newEntry(itemId, 'agent', step.atMs))
  const { transcript } = step.state
  const entry = find(transcript, itemId)
  if (!entry || entry.isFinal) return
  const unheard = asFarAsKept(final ? text : entry.unheard + text)
  step.set({ transcript: change(transcript, itemId, { responseId, unheard }) })
  if (!final) step.do({ type: 'note', note: { type: 'turn_delta', itemId, role: 'agent', text } })
}

/** What is heard and what is not, as much as is kept of each: an answer without end would be looked through at each word of it. */
function asFarAsKept(words: string): string {
  return words.length > 2 * MAX_TURN_CHARS ? words.slice(0, 2 * MAX_TURN_CHARS).toWellFormed() : words
}

/** Words of an answer that is over whose audio was never sent; the others end when they were played. */
export function closeWords(step: Step, responseId: string): void {
  for (const itemId of unsent(step, responseId)) keepEntry(step, itemId, { isFinal: true, endMs: step.atMs })
}

/** The items of an answer that have words, of whose audio none was sent. */
export function unsent({ state: { transcript, playback } }: Step, responseId: string): string[] {
  const isPlaying = ({ itemId }: Entry) => playback.utterances.some((u) => u.itemId === itemId)
  const isUnsent = (entry: Entry) => entry.responseId === responseId && !entry.isFinal && !isPlaying(entry)
  return transcript.entries.filter(isUnsent).map(({ itemId }) => itemId)
}
