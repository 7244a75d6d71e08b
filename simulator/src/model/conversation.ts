import type { Item, StoredItem } from './items.ts'
import { ModelError } from './model-error.ts'

/** Audio is measured in µ-law bytes of 8 kHz inside the model, whatever the wire format is. */
const BYTES_PER_MS = 8

/** The items of a session in their order, and the rules for changing them. No socket, no timer. */
export class Conversation {
  #entries: StoredItem[] = []

  /** All items, oldest first. */
  get entries(): readonly StoredItem[] {
    return this.#entries
  }

  /** The id of the newest item; null while there is none. */
  get lastId(): string | null {
    return this.#entries.at(-1)?.item.id ?? null
  }

  /** The stored item of an id, if there is one. */
  find(id: string): StoredItem | undefined {
    return this.#entries.find((entry) => entry.item.id === id)
  }

  /**
   * Puts an item behind `previousId` (`root`: at the very beginning; undefined: at the end); returns the id before it.
   * @throws ModelError `invalid_value` for an id that is taken, `item_create_invalid_previous_item_id` for an unknown
   *   previous one, `invalid_tool_call_id` for an output of a call that nobody asked for.
   */
  insert(entry: StoredItem, previousId?: string | null): string | null {
    const { item } = entry
    if (this.find(item.id)) throw refusal('invalid_value', `Item with ID '${item.id}' already exists.`, 'item.id')
    if (item.type === 'function_call_output') this.#requireCall(item.call_id)
    const index = this.#indexAfter(previousId)
    this.#entries.splice(index, 0, entry)
    return this.#entries[index - 1]?.item.id ?? null
  }

  /** Removes an item. @throws ModelError `item_delete_invalid_item_id`. */
  delete(id: string): void {
    this.#require(id, 'delete')
    this.#entries = this.#entries.filter((entry) => entry.item.id !== id)
  }

  /** Gives an item back. @throws ModelError `item_retrieve_invalid_item_id`. */
  retrieve(id: string): StoredItem {
    return this.#require(id, 'retrieve')
  }

  /**
   * Cuts an assistant's audio after `endMs` and drops its transcript: what was not heard was not said.
   * @throws ModelError `item_truncate_invalid_item_id` for an unknown item; `invalid_value` for one that is no
   *   assistant's audio, or whose audio is shorter than `endMs`.
   */
  truncate(id: string, endMs: number): void {
    const entry = this.#require(id, 'truncate')
    const { item } = entry
    if (item.type !== 'message' || item.role !== 'assistant')
      throw refusal('invalid_value', 'Only model output audio messages can be truncated.', 'item_id')
    if (!entry.audio) throw refusal('invalid_value', 'Only audio content can be truncated.', 'content_index')
    const durationMs = Math.floor(entry.audio.length / BYTES_PER_MS)
    if (endMs > durationMs)
      throw refusal(
        'invalid_value',
        `Audio content of ${durationMs}ms is already shorter than ${endMs}ms`,
        'audio_end_ms',
      )
    entry.audio = entry.audio.slice(0, endMs * BYTES_PER_MS)
    item.content = [{ type: 'output_audio' }]
  }

  /** The function call of a `call_id`, if the conversation has it. */
  call(callId: string): Extract<Item, { type: 'function_call' }> | undefined {
    for (const { item } of this.#entries) if (item.type === 'function_call' && item.call_id === callId) return item
    return undefined
  }

  #indexAfter(previousId: string | null | undefined): number {
    if (previousId === undefined || previousId === null) return this.#entries.length
    if (previousId === 'root') return 0
    const index = this.#entries.findIndex((entry) => entry.item.id === previousId)
    if (index >= 0) return index + 1
    const message = `Previous item with ID '${previousId}' not found.`
    throw refusal('item_create_invalid_previous_item_id', message, 'previous_item_id')
  }

  #requireCall(callId: string): void {
    if (this.call(callId)) return
    throw refusal('invalid_tool_call_id', `Tool call ID '${callId}' not found in conversation.`, 'item.call_id')
  }

  #require(id: string, verb: 'delete' | 'retrieve' | 'truncate'): StoredItem {
    const entry = this.find(id)
    if (entry) return entry
    const message = `Could not ${verb} item: item with ID '${id}' not found.`
    throw refusal(`item_${verb}_invalid_item_id`, message, 'item_id')
  }
}

function refusal(code: string, message: string, param: string): ModelError {
  return new ModelError(code, message, param)
}
