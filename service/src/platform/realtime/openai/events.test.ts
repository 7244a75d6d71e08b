import { describe, expect, it } from 'vitest'
import { isSilent, readEvent } from './events.ts'
import { MalformedEvent } from './members.ts'

const TRANSCRIPTION = 'conversation.item.input_audio_transcription'
const PLACE = { response_id: 'resp_1', item_id: 'item_1', output_index: 0, content_index: 0 }
const LONG = 'x'.repeat(129)
const CALL = { id: 'item_2', type: 'function_call', call_id: 'call_1', name: 'look_up', arguments: '{"a":1}' }
const SAID = { id: 'item_1', type: 'message', role: 'assistant', status: 'completed' }

describe('readEvent', () => {
  it.each([
    [
      { type: 'input_audio_buffer.speech_started', audio_start_ms: 120, item_id: 'item_1' },
      { type: 'speech_started', itemId: 'item_1', audioStartMs: 120 },
    ],
    [
      { type: 'input_audio_buffer.speech_stopped', audio_end_ms: 900, item_id: 'item_1' },
      { type: 'speech_stopped', itemId: 'item_1', audioEndMs: 900 },
    ],
    [
      { type: 'input_audio_buffer.committed', item_id: 'item_1', previous_item_id: 'item_0' },
      { type: 'committed', itemId: 'item_1', previousItemId: 'item_0' },
    ],
    [
      { type: 'input_audio_buffer.committed', item_id: 'item_1', previous_item_id: null },
      { type: 'committed', itemId: 'item_1', previousItemId: null },
    ],
    [
      { type: 'conversation.item.added', item: { id: 'item_1', type: 'message', role: 'user' } },
      { type: 'item_added', itemId: 'item_1', previousItemId: null, role: 'caller' },
    ],
    [
      {
        type: 'conversation.item.added',
        previous_item_id: 'a',
        item: { id: 'b', type: 'message', role: 'assistant' },
      },
      { type: 'item_added', itemId: 'b', previousItemId: 'a', role: 'agent' },
    ],
    [
      { type: 'conversation.item.added', item: { id: 'item_1', type: 'message', role: 'system' } },
      { type: 'item_added', itemId: 'item_1', previousItemId: null, role: 'system' },
    ],
    [
      { type: 'conversation.item.added', item: { id: 'item_1', type: 'function_call_output' } },
      { type: 'item_added', itemId: 'item_1', previousItemId: null, role: 'tool' },
    ],
    [
      { type: `${TRANSCRIPTION}.completed`, item_id: 'item_1', content_index: 0, transcript: 'Hello.\n' },
      { type: 'caller_transcript', itemId: 'item_1', text: 'Hello.' },
    ],
    [
      { type: `${TRANSCRIPTION}.failed`, item_id: 'item_1', error: { code: 'audio_unintelligible' } },
      { type: 'caller_transcript_failed', itemId: 'item_1' },
    ],
    [
      { type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } },
      { type: 'response_started', responseId: 'resp_1' },
    ],
    [
      { type: 'response.output_audio.done', ...PLACE },
      { type: 'audio_done', responseId: 'resp_1', itemId: 'item_1' },
    ],
    [
      { type: 'response.output_audio_transcript.delta', ...PLACE, delta: 'Hel' },
      { type: 'agent_transcript', responseId: 'resp_1', itemId: 'item_1', text: 'Hel', final: false },
    ],
    [
      { type: 'response.output_audio_transcript.done', ...PLACE, transcript: 'Hello' },
      { type: 'agent_transcript', responseId: 'resp_1', itemId: 'item_1', text: 'Hello', final: true },
    ],
    [
      { type: 'response.output_text.delta', ...PLACE, delta: 'Hel' },
      { type: 'agent_text', responseId: 'resp_1', itemId: 'item_1', text: 'Hel', final: false },
    ],
    [
      { type: 'response.output_text.done', ...PLACE, text: 'Hello' },
      { type: 'agent_text', responseId: 'resp_1', itemId: 'item_1', text: 'Hello', final: true },
    ],
    [
      { type: 'response.output_item.done', ...PLACE, item: { ...CALL, status: 'completed' } },
      {
        ...{ type: 'tool_call', responseId: 'resp_1', itemId: 'item_2' },
        ...{ callId: 'call_1', name: 'look_up', argumentsText: '{"a":1}' },
      },
    ],
    [
      { type: 'response.output_item.done', ...PLACE, item: { ...SAID, phase: 'commentary' } },
      { type: 'preamble', responseId: 'resp_1', itemId: 'item_1' },
    ],
  ])('reads %j', (event, meaning) => {
    expect(readEvent(event.type, event)).toEqual(meaning)
  })

  it.each([
    ['a finished message', { type: 'response.output_item.done', ...PLACE, item: SAID }],
    ['an answer', { type: 'response.output_item.done', ...PLACE, item: { ...SAID, phase: 'final_answer' } }],
    [
      'words ahead of one that were cut off',
      { type: 'response.output_item.done', ...PLACE, item: { ...SAID, phase: 'commentary', status: 'incomplete' } },
    ],
    [
      'a call that was cut off',
      { type: 'response.output_item.done', ...PLACE, item: { ...CALL, status: 'incomplete', arguments: '{"a' } },
    ],
    ['what another event tells', { type: 'response.function_call_arguments.done', ...PLACE, arguments: '{}' }],
    ['an item that is told of as added, too', { type: 'conversation.item.created', item: { id: 'item_1' } }],
    ['limits with room', { type: 'rate_limits.updated', rate_limits: [{ name: 'tokens', remaining: 5 }] }],
  ])('makes nothing of %s', (_what, event) => {
    expect(readEvent(event.type, event)).toBeNull()
  })

  it('tells the longest wait when nothing remains', () => {
    const limits = [
      { name: 'requests', limit: 10, remaining: 0, reset_seconds: 0.5 },
      { name: 'tokens', limit: 10, remaining: 0, reset_seconds: 1.2344 },
      { name: 'other', limit: 10, remaining: 3, reset_seconds: 9 },
    ]
    const event = { type: 'rate_limits.updated', rate_limits: limits }
    expect(readEvent(event.type, event)).toEqual({ type: 'rate_limited', resetMs: 1_235 })
  })

  it('reads as many of them as an event can hold', () => {
    const limits = Array.from({ length: 260_000 }, (_, at) => ({ remaining: 0, reset_seconds: at % 7 }))
    const event = { type: 'rate_limits.updated', rate_limits: limits }
    expect(readEvent(event.type, event)).toEqual({ type: 'rate_limited', resetMs: 6_000 })
  })

  it('takes no wait for what is none', () => {
    const limits = [{ name: 'tokens', remaining: 0, reset_seconds: Number.POSITIVE_INFINITY }]
    const event = { type: 'rate_limits.updated', rate_limits: limits }
    expect(readEvent(event.type, event)).toEqual({ type: 'rate_limited', resetMs: 0 })
  })

  it('cuts the name of a function to one that no function has', () => {
    const named = (name: string) =>
      readEvent('response.output_item.done', { ...PLACE, item: { ...CALL, name, status: 'completed' } })
    const longest = 'x'.repeat(64)
    expect(named(longest)).toMatchObject({ name: longest })
    expect(named('x'.repeat(2_000_000))).toMatchObject({ name: `${'x'.repeat(63)}…` })
  })

  it.each([
    { type: `${TRANSCRIPTION}.completed`, item_id: 'item_1', transcript: 'x'.repeat(2_000_000) },
    { type: 'response.output_audio_transcript.done', ...PLACE, transcript: 'x'.repeat(2_000_000) },
    { type: 'response.output_text.delta', ...PLACE, delta: 'x'.repeat(2_000_000) },
  ])('takes of words without end two hours of talk: $type', (event) => {
    expect(readEvent(event.type, event)).toMatchObject({ text: 'x'.repeat(131_072) })
  })

  it.each([
    { type: 'input_audio_buffer.speech_started', item_id: LONG },
    { type: 'input_audio_buffer.committed', item_id: 'item_1', previous_item_id: LONG },
    { type: 'conversation.item.added', item: { id: LONG, type: 'message', role: 'user' } },
    { type: `${TRANSCRIPTION}.completed`, item_id: LONG, transcript: 'Hello.' },
    { type: 'response.created', response: { id: LONG } },
    { type: 'response.output_audio_transcript.delta', ...PLACE, response_id: LONG, delta: 'Hel' },
    { type: 'response.output_item.done', ...PLACE, item: { ...CALL, call_id: LONG } },
    { type: 'response.done', response: { id: LONG, status: 'completed' } },
  ])('refuses an id without end: $type', (event) => {
    expect(() => readEvent(event.type, event)).toThrow(MalformedEvent)
  })

  it('does not know what it does not know', () => {
    expect(readEvent('response.sung', { type: 'response.sung' })).toBeUndefined()
    expect(isSilent('response.sung')).toBe(false)
  })

  it.each([
    { type: 'input_audio_buffer.committed' },
    { type: 'conversation.item.added', item: { type: 'message', role: 'user' } },
    { type: 'conversation.item.added', item: 'item_1' },
    { type: 'response.created', response: null },
    { type: 'response.output_audio_transcript.delta', ...PLACE, delta: 7 },
    { type: 'response.output_item.done', ...PLACE, item: { ...CALL, name: null } },
    { type: 'response.done', response: { id: 'resp_1', status: 'in_progress' } },
    { type: 'response.done', response: { status: 'completed' } },
  ])('refuses %j, which lacks what it promises', (event) => {
    expect(() => readEvent(event.type, event)).toThrow(MalformedEvent)
  })
})
