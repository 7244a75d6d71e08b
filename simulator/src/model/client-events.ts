import { ModelError } from './model-error.ts'
import {
  audioFormat,
  maxOutputTokens,
  metadata,
  outputModalities,
  prompt,
  reasoning,
  toolChoice,
  tools,
  voice,
} from './session-shape.ts'
import { anything, boolean, integer, list, nullable, object, oneOf, type Shaped, text, variants } from './shape.ts'

const ITEM_ID_LENGTH_MAX = 32
const AUDIO_BASE64_LENGTH_MAX = 15 * 1024 * 1024

const itemId = text(ITEM_ID_LENGTH_MAX)
const itemFields = {
  id: itemId,
  object: oneOf(['realtime.item']),
  status: oneOf(['completed', 'incomplete', 'in_progress']),
}

const inputText = object({ type: oneOf(['input_text']), text: text() }, {})
const userContent = variants('type', {
  input_text: inputText,
  input_audio: object(
    { type: oneOf(['input_audio']), audio: text(AUDIO_BASE64_LENGTH_MAX) },
    { transcript: nullable(text()) },
  ),
  input_image: object({ type: oneOf(['input_image']), image_url: text() }, { detail: oneOf(['auto', 'low', 'high']) }),
})
// An assistant's audio cannot be put into a conversation by a client, only its words.
const assistantContent = variants('type', { output_text: object({ type: oneOf(['output_text']), text: text() }, {}) })

const message = variants('role', {
  user: object({ type: oneOf(['message']), role: oneOf(['user']), content: list(userContent) }, itemFields),
  system: object({ type: oneOf(['message']), role: oneOf(['system']), content: list(inputText) }, itemFields),
  assistant: object(
    { type: oneOf(['message']), role: oneOf(['assistant']), content: list(assistantContent) },
    itemFields,
  ),
})

const ITEMS = {
  message,
  function_call: object(
    { type: oneOf(['function_call']), name: text(), arguments: text() },
    { ...itemFields, call_id: text() },
  ),
  function_call_output: object({ type: oneOf(['function_call_output']), call_id: text(), output: text() }, itemFields),
}
const item = variants('type', ITEMS)
const itemReference = object({ type: oneOf(['item_reference']), id: itemId }, {})

const responseParams = object(
  {},
  {
    instructions: text(),
    input: list(variants('type', { ...ITEMS, item_reference: itemReference })),
    output_modalities: outputModalities,
    audio: object({}, { output: object({}, { format: audioFormat, voice }) }),
    tools,
    tool_choice: toolChoice,
    parallel_tool_calls: boolean,
    reasoning,
    conversation: oneOf(['auto', 'none']),
    metadata,
    max_output_tokens: maxOutputTokens,
    prompt,
  },
)

const eventId = { event_id: text(512) }

const SHAPES = {
  // Checked by `updateConfig`, which names fields from `session` on.
  'session.update': object({ type: oneOf(['session.update']), session: anything }, eventId),
  'input_audio_buffer.append': object(
    { type: oneOf(['input_audio_buffer.append']), audio: text(AUDIO_BASE64_LENGTH_MAX) },
    eventId,
  ),
  'input_audio_buffer.commit': object({ type: oneOf(['input_audio_buffer.commit']) }, eventId),
  'input_audio_buffer.clear': object({ type: oneOf(['input_audio_buffer.clear']) }, eventId),
  'conversation.item.create': object(
    { type: oneOf(['conversation.item.create']), item },
    { ...eventId, previous_item_id: nullable(text()) },
  ),
  'conversation.item.retrieve': object({ type: oneOf(['conversation.item.retrieve']), item_id: text() }, eventId),
  'conversation.item.delete': object({ type: oneOf(['conversation.item.delete']), item_id: text() }, eventId),
  'conversation.item.truncate': object(
    {
      type: oneOf(['conversation.item.truncate']),
      item_id: text(),
      content_index: integer(0, 0),
      audio_end_ms: integer(1, Number.MAX_SAFE_INTEGER),
    },
    eventId,
  ),
  'response.create': object({ type: oneOf(['response.create']) }, { ...eventId, response: nullable(responseParams) }),
  'response.cancel': object({ type: oneOf(['response.cancel']) }, { ...eventId, response_id: text() }),
}

const clientEvent = variants('type', SHAPES)

/** A checked client event. */
export type ClientEvent = Shaped<typeof clientEvent>
/** One kind of client event. */
export type ClientEventOf<T extends ClientEvent['type']> = Extract<ClientEvent, { type: T }>
/** An item as a client gives it. */
export type ClientItem = Shaped<typeof item>
/** What a client asks of one response. */
export type ResponseParams = Shaped<typeof responseParams>

/** The JSON of a client frame; null stands for a binary one. @throws ModelError `invalid_json` for anything but a JSON object. */
export function parseFrame(data: string | null): Record<string, unknown> {
  try {
    const value: unknown = data === null ? null : JSON.parse(data)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Falls through to the one refusal below: what was wrong with the JSON helps nobody.
  }
  throw new ModelError('invalid_json', 'Could not parse the event: expected a JSON object in a text frame.')
}

/** Checks a client event. @throws ModelError what `Shape` throws; an unknown `type` is an `invalid_value`. */
export function checkEvent(frame: Record<string, unknown>): ClientEvent {
  return clientEvent(frame, '')
}
