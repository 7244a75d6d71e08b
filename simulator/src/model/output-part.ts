import type { Conversation } from './conversation.ts'
import type { EventStream, Fields } from './event-stream.ts'
import type { Item, ItemStatus, StoredItem } from './items.ts'

/** Where a response writes: its events, and the conversation unless it runs outside of it. */
export type OutputPlace = {
  stream: EventStream
  conversation: Conversation | null
  responseId: string
  outputIndex: number
}

/** Announces a new item of a response, to the response's reader and to the conversation's. */
export function openItem(place: OutputPlace, entry: StoredItem): void {
  const item = shown(entry.item)
  place.stream.send('response.output_item.added', { ...placeOf(place), item })
  if (!place.conversation) return
  const previous = place.conversation.insert(entry)
  place.stream.send('conversation.item.added', { previous_item_id: previous, item })
}

/** Announces that an item of a response is whole, or as whole as it gets. */
export function closeItem(place: OutputPlace, entry: StoredItem, status: ItemStatus): void {
  entry.item.status = status
  const item = shown(entry.item)
  const previous = place.conversation ? previousOf(place.conversation, entry) : null
  if (place.conversation?.find(entry.item.id))
    place.stream.send('conversation.item.done', { previous_item_id: previous, item })
  place.stream.send('response.output_item.done', { ...placeOf(place), item })
}

/** The fields that say which item of which response an event is about. */
export function placeOf(place: OutputPlace): Fields {
  return { response_id: place.responseId, output_index: place.outputIndex }
}

/** An item as it stands now; events must not change when the item does. */
export function shown(item: Item): Item {
  return structuredClone(item)
}

function previousOf(conversation: Conversation, entry: StoredItem): string | null {
  const index = conversation.entries.indexOf(entry)
  return conversation.entries[index - 1]?.item.id ?? null
}
