/** The ids of one answer, of fixed width so that every delta has the same length. */
export type AnswerIds = { response: string; item: string }

/** The ids of the `answer`-th answer (from 0) in `call`. */
export function answerIds(call: number, answer: number): AnswerIds {
  const suffix = `${String(call).padStart(8, '0')}${String(answer).padStart(6, '0')}`
  return { response: `resp_${suffix}`, item: `item_a${suffix}` }
}

/** The id of what the caller says in `turn` of `call`. */
export function callerItem(call: number, turn: number): string {
  return `item_u${String(call).padStart(8, '0')}${String(turn).padStart(6, '0')}`
}

/** Opens the session, as the server does before anything else. */
export function sessionCreated(): string {
  return event('session.created', { session: { type: 'realtime', object: 'realtime.session', model: 'bench' } })
}

/** Grants a `session.update`. */
export function sessionUpdated(session: unknown): string {
  return event('session.updated', { session })
}

/** Refuses what a client asked for; `clientEventId` is the id that it gave its request. */
export function refused(code: string, clientEventId: string | null): string {
  const error = { type: 'invalid_request_error', code, message: 'not now', param: null, event_id: clientEventId }
  return event('error', { error })
}

/** The caller begins to speak, `atMs` into the audio. */
export function speechStarted(itemId: string, atMs: number): string {
  return event('input_audio_buffer.speech_started', { audio_start_ms: atMs, item_id: itemId })
}

/** The caller has spoken, and what was said is an item of the conversation behind `previousItemId`. */
export function speechEnded(itemId: string, previousItemId: string | null, atMs: number): string[] {
  const item = {
    id: itemId,
    type: 'message',
    role: 'user',
    status: 'completed',
    content: [{ type: 'input_audio', transcript: null }],
  }
  return [
    event('input_audio_buffer.speech_stopped', { audio_end_ms: atMs, item_id: itemId }),
    event('input_audio_buffer.committed', { item_id: itemId, previous_item_id: previousItemId }),
    event('conversation.item.added', { item, previous_item_id: previousItemId }),
    event('conversation.item.done', { item, previous_item_id: previousItemId }),
  ]
}

/** What the caller said, in words. */
export function transcribed(itemId: string): string[] {
  const transcript = 'what the caller said'
  const usage = { type: 'duration', seconds: 0.4 }
  return [
    event(`${TRANSCRIPTION}.delta`, { item_id: itemId, content_index: 0, delta: transcript }),
    event(`${TRANSCRIPTION}.completed`, { item_id: itemId, content_index: 0, transcript, usage }),
  ]
}

const TRANSCRIPTION = 'conversation.item.input_audio_transcription'

/** An answer begins: everything before its first delta. */
export function answerStarted(ids: AnswerIds, previousItemId: string | null): string[] {
  const item = { id: ids.item, type: 'message', role: 'assistant', status: 'in_progress', content: [] }
  return [
    event('response.created', { response: { id: ids.response, status: 'in_progress', output: [] } }),
    event('response.output_item.added', { response_id: ids.response, output_index: 0, item }),
    event('conversation.item.added', { item, previous_item_id: previousItemId }),
    event('response.content_part.added', { ...place(ids), part: { type: 'audio', transcript: '' } }),
  ]
}

/** What stands before the audio of a delta; `DELTA_TAIL` stands behind it. */
export function deltaHead(ids: AnswerIds): string {
  return `${event('response.output_audio.delta', place(ids)).slice(0, -1)},"delta":"`
}

/** What stands behind the audio of a delta. */
export const DELTA_TAIL = '"}'

/** The words that go with a delta. */
export function transcriptDelta(ids: AnswerIds): string {
  return event('response.output_audio_transcript.delta', { ...place(ids), delta: 'half a second ' })
}

/** The answer is over: everything behind its last delta, with the usage. */
export function answerDone(ids: AnswerIds, status: 'completed' | 'cancelled'): string[] {
  const transcript = 'half a second '.repeat(10)
  const item = {
    id: ids.item,
    type: 'message',
    role: 'assistant',
    status: status === 'completed' ? 'completed' : 'incomplete',
    content: [{ type: 'output_audio', transcript }],
  }
  const details = status === 'completed' ? null : { type: 'cancelled', reason: 'client_cancelled' }
  const response = { id: ids.response, status, status_details: details, output: [item], usage: USAGE }
  return [
    event('response.output_audio.done', place(ids)),
    event('response.output_audio_transcript.done', { ...place(ids), transcript }),
    event('response.content_part.done', { ...place(ids), part: { type: 'audio', transcript } }),
    event('conversation.item.done', { item, previous_item_id: null }),
    event('response.output_item.done', { response_id: ids.response, output_index: 0, item }),
    event('response.done', { response }),
    event('rate_limits.updated', { rate_limits: RATE_LIMITS }),
  ]
}

/** An item is cut where the caller stopped hearing it. */
export function itemTruncated(itemId: string, audioEndMs: number): string {
  return event('conversation.item.truncated', { item_id: itemId, content_index: 0, audio_end_ms: audioEndMs })
}

/** An item is taken out of the conversation. */
export function itemDeleted(itemId: string): string {
  return event('conversation.item.deleted', { item_id: itemId })
}

/** An item of the client's own joins the conversation. */
export function itemCreated(item: object, previousItemId: string | null): string[] {
  return [
    event('conversation.item.added', { item, previous_item_id: previousItemId }),
    event('conversation.item.done', { item, previous_item_id: previousItemId }),
  ]
}

const USAGE = {
  total_tokens: 224,
  input_tokens: 104,
  output_tokens: 120,
  input_token_details: { text_tokens: 84, audio_tokens: 20, cached_tokens: 64 },
  output_token_details: { text_tokens: 20, audio_tokens: 100 },
}

const RATE_LIMITS = [
  { name: 'requests', limit: 5_000, remaining: 4_990, reset_seconds: 0.1 },
  { name: 'tokens', limit: 400_000, remaining: 399_000, reset_seconds: 0.2 },
]

let events = 0

function event(type: string, fields: object): string {
  events += 1
  return JSON.stringify({ type, event_id: `event_${String(events).padStart(12, '0')}`, ...fields })
}

function place(ids: AnswerIds): object {
  return { response_id: ids.response, item_id: ids.item, output_index: 0, content_index: 0 }
}
