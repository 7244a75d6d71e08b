import { describe, expect, it } from 'vitest'
import type { ModelCommand } from '../port.ts'
import { commandFrame } from './commands.ts'

const sent = (command: ModelCommand, instructions = 'You are Ada.') =>
  JSON.parse(commandFrame(command, instructions).toString('utf8'))

describe('commandFrame', () => {
  it.each<[ModelCommand, object]>([
    [
      { type: 'respond', requestId: 'ask-1-1', instructions: null },
      { type: 'response.create', event_id: 'ask-1-1' },
    ],
    [
      { type: 'respond', requestId: 'ask-1-1', instructions: null, output: 'text' },
      { type: 'response.create', event_id: 'ask-1-1', response: { output_modalities: ['text'] } },
    ],
    [
      { type: 'respond', requestId: 'ask-1-1', instructions: 'Greet.', output: 'audio' },
      {
        ...{ type: 'response.create', event_id: 'ask-1-1' },
        response: { instructions: 'You are Ada.\n\nGreet.', output_modalities: ['audio'] },
      },
    ],
    [
      { type: 'respond', requestId: 'ask-1-1', instructions: null, noTools: true },
      { type: 'response.create', event_id: 'ask-1-1', response: { tool_choice: 'none' } },
    ],
    [
      { type: 'cancel', responseId: 'resp_1' },
      { type: 'response.cancel', response_id: 'resp_1' },
    ],
    [
      { type: 'truncate', itemId: 'item_1', audioEndMs: 1234.9 },
      { type: 'conversation.item.truncate', item_id: 'item_1', content_index: 0, audio_end_ms: 1234 },
    ],
    [
      { type: 'truncate', itemId: 'item_1', audioEndMs: 0.4 },
      { type: 'conversation.item.truncate', item_id: 'item_1', content_index: 0, audio_end_ms: 1 },
    ],
    [
      { type: 'delete_item', itemId: 'item_1' },
      { type: 'conversation.item.delete', item_id: 'item_1' },
    ],
    [
      { type: 'system_message', text: 'The caller pressed 4.' },
      {
        type: 'conversation.item.create',
        item: { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'The caller pressed 4.' }] },
      },
    ],
    [
      { type: 'tool_result', callId: 'call_1', output: '{"ok":true}' },
      {
        type: 'conversation.item.create',
        item: { type: 'function_call_output', call_id: 'call_1', output: '{"ok":true}' },
      },
    ],
  ])('writes %j', (command, event) => {
    expect(sent(command)).toEqual(event)
  })

  it('keeps the agent who it is when an answer has instructions of its own', () => {
    const command: ModelCommand = { type: 'respond', requestId: 'r', instructions: 'Say goodbye.' }
    expect(sent(command).response).toEqual({ instructions: 'You are Ada.\n\nSay goodbye.' })
    expect(sent(command, '').response).toEqual({ instructions: 'Say goodbye.' })
  })

  it.each([
    ['a', 8_192, 8_192],
    ['a', 8_193, 8_192],
    ['é', 5_000, 4_096],
    ['€', 5_000, 2_730],
    ['😀', 5_000, 2_048],
  ])('cuts a result of many %s to 8 KiB without cutting one in half', (char, count, left) => {
    const { item } = sent({ type: 'tool_result', callId: 'c', output: char.repeat(count) })
    expect(item.output).toBe(char.repeat(left))
  })
})
