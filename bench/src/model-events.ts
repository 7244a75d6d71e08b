/** The ids of one answer, of fixed width so that every delta has the same length. */
export type AnswerIds = { response: string; item: string; callerItem: string }

/** The ids of the answer of `turn` in `call`. */
export function answerIds(call: number, turn: number): AnswerIds {
  const suffix = `${String(call).padStart(8, '0')}${String(turn).padStart(6, '0')}`
  return { response: `resp_${suffix}`, item: `item_a${suffix}`, callerItem: `item_u${suffix}` }
}

/** Opens the session, as the server does before anything else. */
export function sessionCreated(): string {
  return event('session.created', { session: { type: 'realtime', object: 'realtime.session', model: 'bench' } })
}

/** Grants a `session.update`. */
export function sessionUpdated(session: unknown): string {
  return event('session.updated', { session })
}

/** The caller begins to speak. */
export function speechStarted(ids: AnswerIds): string {
  return event('input_audio_buffer.speech_started', { audio_start_ms: 0, item_id: ids.callerItem })
}

/** The caller has spoken and an answer begins: everything before its first delta. */
export function answerStarted(ids: AnswerIds): string[] {
  const caller = { id: ids.callerItem, type: 'message', role: 'user', content: [{ type: 'input_audio' }] }
  const agent = { id: ids.item, type: 'message', role: 'assistant', status: 'in_progress', content: [] }
  return [
    event('input_audio_buffer.speech_stopped', { audio_end_ms: 400, item_id: ids.callerItem }),
    event('input_audio_buffer.committed', { item_id: ids.callerItem, previous_item_id: null }),
    event('conversation.item.added', { item: caller, previous_item_id: null }),
    event('response.created', { response: { id: ids.response, status: 'in_progress', output: [] } }),
    event('response.output_item.added', { response_id: ids.response, output_index: 0, item: agent }),
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

/** The answer is complete: everything behind its last delta, with the usage, and the caller's words. */
export function answerDone(ids: AnswerIds): string[] {
  const transcript = 'half a second '.repeat(10)
  const agent = {
    id: ids.item,
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_audio', transcript }],
  }
  return [
    event('response.output_audio.done', place(ids)),
    event('response.output_audio_transcript.done', { ...place(ids), transcript }),
    event('response.content_part.done', { ...place(ids), part: { type: 'audio', transcript } }),
    event('response.output_item.done', { response_id: ids.response, output_index: 0, item: agent }),
    event('response.done', { response: { id: ids.response, status: 'completed', output: [agent], usage: USAGE } }),
    event('conversation.item.input_audio_transcription.completed', {
      item_id: ids.callerItem,
      content_index: 0,
      transcript: 'what the caller said',
      usage: { type: 'duration', seconds: 0.4 },
    }),
  ]
}

const USAGE = {
  total_tokens: 224,
  input_tokens: 104,
  output_tokens: 120,
  input_token_details: { text_tokens: 84, audio_tokens: 20, cached_tokens: 64 },
  output_token_details: { text_tokens: 20, audio_tokens: 100 },
}

let events = 0

function event(type: string, fields: object): string {
  events += 1
  return JSON.stringify({ type, event_id: `event_${String(events).padStart(12, '0')}`, ...fields })
}

function place(ids: AnswerIds): object {
  return { response_id: ids.response, item_id: ids.item, output_index: 0, content_index: 0 }
}
