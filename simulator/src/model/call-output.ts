import { newId } from './ids.ts'
import type { FunctionCallItem, StoredItem } from './items.ts'
import { closeItem, type OutputPlace, openItem, placeOf } from './output-part.ts'
import type { ToolCall } from './script.ts'

const DELTA_LENGTH = 12

/** Writes the wish for one function call: its arguments come in small pieces, as the real model writes them. */
export function writeCall(place: OutputPlace, call: ToolCall): FunctionCallItem {
  const item: FunctionCallItem = {
    id: newId('item'),
    object: 'realtime.item',
    type: 'function_call',
    status: 'in_progress',
    name: call.name,
    call_id: newId('call'),
    arguments: '',
  }
  const entry: StoredItem = { item, audio: null }
  openItem(place, entry)
  const text = JSON.stringify(call.arguments ?? {})
  const fields = { ...placeOf(place), item_id: item.id, call_id: item.call_id }
  for (let at = 0; at < text.length; at += DELTA_LENGTH) {
    const delta = text.slice(at, at + DELTA_LENGTH)
    place.stream.send('response.function_call_arguments.delta', { ...fields, delta })
  }
  item.arguments = text
  place.stream.send('response.function_call_arguments.done', { ...fields, name: call.name, arguments: text })
  closeItem(place, entry, 'completed')
  return item
}
