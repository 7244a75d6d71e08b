import { makeEncoder } from './audio-codec.ts'
import type { ClientEventOf } from './client-events.ts'
import { storedItem } from './client-items.ts'
import type { Item, StoredItem } from './items.ts'
import { ModelError } from './model-error.ts'
import { shown } from './output-part.ts'
import { note } from './session-record.ts'
import type { SessionState } from './session-state.ts'

/** Adds an item at the client's wish. @throws ModelError as `Conversation.insert` does. */
export async function createItem(state: SessionState, event: ClientEventOf<'conversation.item.create'>): Promise<void> {
  const entry = await storedItem(event.item, state.config.audio.input.format)
  const previous = state.conversation.insert(entry, event.previous_item_id)
  const fields = { previous_item_id: previous, item: shown(entry.item) }
  state.stream.send('conversation.item.added', fields)
  state.stream.send('conversation.item.done', fields)
  noteOutput(state, entry.item)
}

/** Shows an item, with its audio. @throws ModelError as `Conversation.retrieve` does. */
export async function retrieveItem(
  state: SessionState,
  event: ClientEventOf<'conversation.item.retrieve'>,
): Promise<void> {
  const entry = state.conversation.retrieve(event.item_id)
  const item = shown(entry.item)
  const audio = await audioOf(state, entry)
  if (item.type === 'message') {
    for (const part of item.content) if (part.type === 'input_audio' || part.type === 'output_audio') part.audio = audio
  }
  state.stream.send('conversation.item.retrieved', { item })
}

/** Removes an item. @throws ModelError as `Conversation.delete` does. */
export function deleteItem(state: SessionState, event: ClientEventOf<'conversation.item.delete'>): void {
  state.conversation.delete(event.item_id)
  state.stream.send('conversation.item.deleted', { item_id: event.item_id })
}

/** Cuts the model's speech to what was heard. @throws ModelError as `Conversation.truncate` does, or by fault. */
export function truncateItem(state: SessionState, event: ClientEventOf<'conversation.item.truncate'>): void {
  const { item_id: itemId, content_index: contentIndex, audio_end_ms: audioEndMs } = event
  const rehearsed = state.faults.truncate_error_count ?? 0
  if (rehearsed > 0) {
    state.faults.truncate_error_count = rehearsed - 1
    throw new ModelError(
      'invalid_value',
      `Audio content of 0ms is already shorter than ${audioEndMs}ms`,
      'audio_end_ms',
    )
  }
  state.conversation.truncate(itemId, audioEndMs)
  note(state.record.truncations, { itemId, audioEndMs })
  state.stream.send('conversation.item.truncated', {
    item_id: itemId,
    content_index: contentIndex,
    audio_end_ms: audioEndMs,
  })
}

function noteOutput(state: SessionState, item: Item): void {
  if (item.type !== 'function_call_output') return
  const call = state.record.calls.find((entry) => entry.callId === item.call_id)
  if (call) call.output = item.output
}

async function audioOf(state: SessionState, entry: StoredItem): Promise<string> {
  const isInput = entry.item.type === 'message' && entry.item.role === 'user'
  const { input, output } = state.config.audio
  const encoder = await makeEncoder(isInput ? input.format : output.format)
  const bytes = Buffer.concat([encoder.push(entry.audio ?? new Uint8Array(0)), encoder.finish()])
  return bytes.toString('base64')
}
