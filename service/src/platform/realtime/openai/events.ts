import type { ModelEvent } from '../port.ts'
import { answerEnd } from './answer-end.ts'
import { WORDS_DELTA } from './frames.ts'
import { amount, id, idOrNull, type Json, object, objects, text } from './members.ts'

type Read = (fields: Json) => ModelEvent | null
type ItemRole = Extract<ModelEvent, { type: 'item_added' }>['role']

const MAX_NAME_CHARS = 64
const MAX_WORDS_CHARS = 128 * 1024
/** The `phase` of a message that a model which reasons says ahead of its answer, in the same response. */
const PREAMBLE = 'commentary'
const CALLER_TRANSCRIPT = 'conversation.item.input_audio_transcription'

/** Server events that mean something above, and what. Null: this one does not. Each throws MalformedEvent. */
const READERS: ReadonlyMap<string, Read> = new Map<string, Read>([
  [
    'input_audio_buffer.speech_started',
    (e) => ({ type: 'speech_started', itemId: id(e, 'item_id'), audioStartMs: amount(e, 'audio_start_ms') }),
  ],
  [
    'input_audio_buffer.speech_stopped',
    (e) => ({ type: 'speech_stopped', itemId: id(e, 'item_id'), audioEndMs: amount(e, 'audio_end_ms') }),
  ],
  ['input_audio_buffer.committed', (e) => ({ type: 'committed', ...itemAndPrevious(id(e, 'item_id'), e) })],
  ['conversation.item.added', itemAdded],
  [
    `${CALLER_TRANSCRIPT}.completed`,
    (e) => ({ type: 'caller_transcript', itemId: id(e, 'item_id'), text: words(e, 'transcript').trim() }),
  ],
  [`${CALLER_TRANSCRIPT}.failed`, (e) => ({ type: 'caller_transcript_failed', itemId: id(e, 'item_id') })],
  ['response.created', (e) => ({ type: 'response_started', responseId: id(object(e, 'response'), 'id') })],
  ['response.output_audio.done', (e) => ({ type: 'audio_done', ...place(e) })],
  [WORDS_DELTA, (e) => spoken(e, 'delta', false)],
  ['response.output_audio_transcript.done', (e) => spoken(e, 'transcript', true)],
  ['response.output_text.delta', (e) => written(e, 'delta', false)],
  ['response.output_text.done', (e) => written(e, 'text', true)],
  ['response.output_item.done', itemDone],
  ['response.done', answerEnd],
  ['rate_limits.updated', rateLimited],
])

/** Server events that are known and tell nothing new; they are not even parsed. */
const SILENT: ReadonlySet<string> = new Set([
  'conversation.created',
  // `added` says the same.
  'conversation.item.created',
  'conversation.item.done',
  'conversation.item.retrieved',
  'conversation.item.deleted',
  'conversation.item.truncated',
  `${CALLER_TRANSCRIPT}.delta`,
  `${CALLER_TRANSCRIPT}.segment`,
  'input_audio_buffer.cleared',
  'input_audio_buffer.timeout_triggered',
  'input_audio_buffer.dtmf_event_received',
  'output_audio_buffer.started',
  'output_audio_buffer.stopped',
  'output_audio_buffer.cleared',
  'response.output_item.added',
  'response.content_part.added',
  'response.content_part.done',
  'response.function_call_arguments.delta',
  // The finished item says the same, and how the call ended as well.
  'response.function_call_arguments.done',
  'response.mcp_call_arguments.delta',
  'response.mcp_call_arguments.done',
  'response.mcp_call.in_progress',
  'response.mcp_call.completed',
  'response.mcp_call.failed',
  'mcp_list_tools.in_progress',
  'mcp_list_tools.completed',
  'mcp_list_tools.failed',
  'ping',
])

/** Whether an event of this type tells nothing that is not told by another one. */
export function isSilent(type: string): boolean {
  return SILENT.has(type)
}

/**
 * What a parsed server event means above; null when it means nothing, undefined when nobody knows its type.
 * @throws MalformedEvent when it lacks what its type promises.
 */
export function readEvent(type: string, fields: Json): ModelEvent | null | undefined {
  if (isSilent(type)) return null
  return READERS.get(type)?.(fields)
}

function place(fields: Json): { responseId: string; itemId: string } {
  return { responseId: id(fields, 'response_id'), itemId: id(fields, 'item_id') }
}

function itemAndPrevious(itemId: string, fields: Json): { itemId: string; previousItemId: string | null } {
  return { itemId, previousItemId: idOrNull(fields, 'previous_item_id') }
}

function spoken(fields: Json, member: string, final: boolean): ModelEvent {
  return { type: 'agent_transcript', ...place(fields), text: words(fields, member), final }
}

function written(fields: Json, member: string, final: boolean): ModelEvent {
  return { type: 'agent_text', ...place(fields), text: words(fields, member), final }
}

function words(fields: Json, member: string): string {
  return cutWords(text(fields, member))
}

/** As many words of one event as anybody keeps: two hours of talk. */
export function cutWords(whole: string): string {
  return whole.length > MAX_WORDS_CHARS ? whole.slice(0, MAX_WORDS_CHARS).toWellFormed() : whole
}

function itemAdded(fields: Json): ModelEvent {
  const item = object(fields, 'item')
  return { type: 'item_added', ...itemAndPrevious(id(item, 'id'), fields), role: roleOf(item) }
}

function roleOf(item: Json): ItemRole {
  if (item['type'] !== 'message') return 'tool'
  if (item['role'] === 'user') return 'caller'
  return item['role'] === 'assistant' ? 'agent' : 'system'
}

/** What was cut off is neither: a call in the middle of its arguments is not made. */
function itemDone(fields: Json): ModelEvent | null {
  const item = object(fields, 'item')
  if (item['status'] === 'incomplete') return null
  if (item['type'] === 'function_call') return toolCall(fields, item)
  return item['phase'] === PREAMBLE
    ? { type: 'preamble', responseId: id(fields, 'response_id'), itemId: id(item, 'id') }
    : null
}

function toolCall(fields: Json, item: Json): ModelEvent {
  return {
    type: 'tool_call',
    responseId: id(fields, 'response_id'),
    itemId: id(item, 'id'),
    callId: id(item, 'call_id'),
    name: nameOf(item),
    argumentsText: text(item, 'arguments'),
  }
}

/** No function has so long a name: what is cut is none of ours, and the model is told so as of any other. */
function nameOf(item: Json): string {
  const name = text(item, 'name')
  return name.length > MAX_NAME_CHARS ? `${name.slice(0, MAX_NAME_CHARS - 1).toWellFormed()}…` : name
}

/** What matters is the limit that takes longest to come back, once nothing remains of it. */
function rateLimited(fields: Json): ModelEvent | null {
  const spent = objects(fields, 'rate_limits').filter(
    (limit) => typeof limit['remaining'] === 'number' && limit['remaining'] <= 0,
  )
  if (spent.length === 0) return null
  return {
    type: 'rate_limited',
    resetMs: Math.ceil(spent.reduce((most, limit) => Math.max(most, amount(limit, 'reset_seconds')), 0) * 1_000),
  }
}
