import { describe, expect, it } from 'vitest'
import { Conversation } from './conversation.ts'
import type { StoredItem } from './items.ts'

function said(id: string, role: 'user' | 'assistant', audioMs = 0): StoredItem {
  const item = {
    id,
    object: 'realtime.item' as const,
    type: 'message' as const,
    status: 'completed' as const,
    role,
    content: [],
  }
  return { item, audio: audioMs > 0 ? new Uint8Array(audioMs * 8) : null }
}

function conversationOf(...ids: string[]): Conversation {
  const conversation = new Conversation()
  for (const id of ids) conversation.insert(said(id, 'user'))
  return conversation
}

const ids = (conversation: Conversation) => conversation.entries.map(({ item }) => item.id)

describe('Conversation', () => {
  it('puts items where they belong and tells what stands before them', () => {
    const conversation = conversationOf('a', 'b')
    expect(conversation.insert(said('first', 'user'), 'root')).toBeNull()
    expect(conversation.insert(said('between', 'user'), 'a')).toBe('a')
    expect(conversation.insert(said('last', 'user'), null)).toBe('b')
    expect(ids(conversation)).toEqual(['first', 'a', 'between', 'b', 'last'])
  })

  it('refuses a taken id and an unknown place, and stays as it was', () => {
    const conversation = conversationOf('a')
    expect(() => conversation.insert(said('a', 'user'))).toThrow("Item with ID 'a' already exists.")
    expect(() => conversation.insert(said('b', 'user'), 'nowhere')).toThrow(
      expect.objectContaining({ code: 'item_create_invalid_previous_item_id' }),
    )
    expect(ids(conversation)).toEqual(['a'])
  })

  it('takes the output only of a call that was asked for', () => {
    const conversation = conversationOf()
    const output = {
      id: 'o',
      object: 'realtime.item' as const,
      type: 'function_call_output' as const,
      status: 'completed' as const,
      call_id: 'c',
      output: '{}',
    }
    expect(() => conversation.insert({ item: output, audio: null })).toThrow(
      expect.objectContaining({ code: 'invalid_tool_call_id' }),
    )
    const call = { ...output, id: 'f', type: 'function_call' as const, name: 'x', arguments: '{}' }
    conversation.insert({ item: call, audio: null })
    conversation.insert({ item: output, audio: null })
    expect(ids(conversation)).toEqual(['f', 'o'])
  })

  it.each([
    ['delete', 'item_delete_invalid_item_id'],
    ['retrieve', 'item_retrieve_invalid_item_id'],
  ] as const)('cannot %s what is not there', (verb, code) => {
    expect(() => conversationOf('a')[verb]('b')).toThrow(expect.objectContaining({ code, param: 'item_id' }))
  })

  it('cuts the audio of an assistant only, and no later than its end', () => {
    const conversation = conversationOf('user')
    conversation.insert(said('spoken', 'assistant', 1_000))
    conversation.insert(said('written', 'assistant'))
    expect(() => conversation.truncate('user', 1)).toThrow('Only model output audio messages can be truncated.')
    expect(() => conversation.truncate('written', 1)).toThrow('Only audio content can be truncated.')
    expect(() => conversation.truncate('nobody', 1)).toThrow(
      expect.objectContaining({ code: 'item_truncate_invalid_item_id' }),
    )
    expect(() => conversation.truncate('spoken', 1_001)).toThrow(
      'Audio content of 1000ms is already shorter than 1001ms',
    )
    conversation.truncate('spoken', 999)
    expect(conversation.find('spoken')?.audio).toHaveLength(999 * 8)
  })
})
