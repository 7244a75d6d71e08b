import { makeDecoder } from './audio-codec.ts'
import type { ClientItem } from './client-events.ts'
import { newId } from './ids.ts'
import type { Content, Item, StoredItem } from './items.ts'
import { ModelError } from './model-error.ts'
import type { AudioFormat } from './session-shape.ts'

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** Makes an item of the conversation of what a client gave; audio in it has the session's input format. */
export async function storedItem(given: ClientItem, format: AudioFormat): Promise<StoredItem> {
  const common = { id: given.id ?? newId('item'), object: 'realtime.item' as const, status: 'completed' as const }
  if (given.type === 'function_call')
    return { item: { ...common, ...pick(given), call_id: given.call_id ?? newId('call') }, audio: null }
  if (given.type === 'function_call_output')
    return { item: { ...common, type: given.type, call_id: given.call_id, output: given.output }, audio: null }
  const parts: Content[] = given.content.map((part) => ({ ...part }))
  const audio = await audioOf(parts, format)
  const item: Item = { ...common, type: 'message', role: given.role, content: parts.map(withoutAudio) }
  return { item, audio }
}

/** Bytes of base64. @throws ModelError `invalid_value` for anything else. */
export function fromBase64(text: string, param: string): Buffer {
  if (text.length % 4 === 0 && BASE64.test(text)) return Buffer.from(text, 'base64')
  const message = `Invalid '${param}'. Expected base64-encoded audio bytes but got an invalid value.`
  throw new ModelError('invalid_value', message, param)
}

async function audioOf(parts: Content[], format: AudioFormat): Promise<Uint8Array | null> {
  const [first] = parts.filter((part) => part.type === 'input_audio')
  if (!first) return null
  const bytes = fromBase64(first.audio ?? '', 'item.content[0].audio')
  const decoder = await makeDecoder(format)
  return Buffer.concat([decoder.push(bytes), decoder.finish()])
}

function withoutAudio(part: Content): Content {
  return part.type === 'input_audio' ? { type: 'input_audio', transcript: part.transcript ?? null } : part
}

function pick(given: Extract<ClientItem, { type: 'function_call' }>): {
  type: 'function_call'
  name: string
  arguments: string
} {
  return { type: given.type, name: given.name, arguments: given.arguments }
}
