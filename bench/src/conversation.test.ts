import { describe, expect, it } from 'vitest'
import { Call } from './call.ts'
import { Conversation } from './conversation.ts'

const ASKED = {
  type: 'session.update',
  session: { audio: { input: { turn_detection: { type: 'server_vad', create_response: false } } } },
}

function typesOf(texts: string[]): string[] {
  return texts.map((text) => JSON.parse(text).type)
}

/** Lets the running answer say all it has to say; returns how many deltas that were. */
function speak(conversation: Conversation, fromMs: number): number {
  let deltas = 0
  for (let due = conversation.due(fromMs); due; due = conversation.due(fromMs)) {
    if (due.step.kind === 'delta') deltas += 1
    else conversation.finish()
  }
  return deltas
}

const LATER_MS = 10_000

describe('the model', () => {
  it('greets and answers by itself, as a server does that was told nothing', () => {
    const conversation = new Conversation()
    const call = new Call(1, '', 0)
    expect(typesOf(conversation.bind(call, 0))).toContain('response.created')
    expect(speak(conversation, LATER_MS)).toBe(10)
    const answer = conversation.caller(call, { kind: 'speech_ended', turn: 0 }, LATER_MS)
    expect(typesOf(answer)).toEqual(expect.arrayContaining(['input_audio_buffer.committed', 'response.created']))
  })

  it('waits to be asked when a session.update says so, also for the greeting', () => {
    const conversation = new Conversation()
    const call = new Call(1, '', 0)
    expect(typesOf(conversation.client(ASKED, 0))).toEqual(['session.updated'])
    expect(conversation.bind(call, 0)).toEqual([])
    expect(typesOf(conversation.client({ type: 'response.create' }, 0))).toContain('response.created')
    expect(speak(conversation, LATER_MS)).toBe(10)
    expect(typesOf(conversation.caller(call, { kind: 'speech_ended', turn: 0 }, 0))).not.toContain('response.created')
    expect(conversation.isQuiet).toBe(false)
    conversation.client({ type: 'response.create' }, 0)
    speak(conversation, LATER_MS)
    expect(conversation.isQuiet).toBe(true)
  })

  it('keeps a request that comes before the first audio of the caller', () => {
    const conversation = new Conversation()
    conversation.client(ASKED, 0)
    expect(conversation.client({ type: 'response.create' }, 0)).toEqual([])
    expect(typesOf(conversation.bind(new Call(1, '', 0), 0))).toContain('response.created')
  })

  it('says one thing at a time, and names the request that it refuses', () => {
    const conversation = new Conversation()
    conversation.client(ASKED, 0)
    conversation.bind(new Call(1, '', 0), 0)
    conversation.client({ type: 'response.create' }, 0)
    const [text = ''] = conversation.client({ type: 'response.create', event_id: 'second' }, 0)
    expect(JSON.parse(text).error).toMatchObject({
      code: 'conversation_already_has_active_response',
      event_id: 'second',
    })
  })

  it('stops when it is cancelled, and there is nothing to cancel twice', () => {
    const conversation = new Conversation()
    conversation.bind(new Call(1, '', 0), 0)
    const done = conversation.client({ type: 'response.cancel' }, 0).map((text) => JSON.parse(text))
    expect(done.find(({ type }) => type === 'response.done').response.status).toBe('cancelled')
    expect(speak(conversation, LATER_MS)).toBe(0)
    expect(typesOf(conversation.client({ type: 'response.cancel' }, 0))).toEqual(['error'])
  })

  it('chains all items, those of the client among them', () => {
    const conversation = new Conversation()
    const call = new Call(1, '', 0)
    const texts = [
      ...conversation.bind(call, 0),
      ...conversation.client({ type: 'conversation.item.create', item: { id: 'own' } }, 0),
      ...conversation.caller(call, { kind: 'speech_ended', turn: 0 }, 0),
    ]
    const added = texts.map((text) => JSON.parse(text)).filter(({ type }) => type === 'conversation.item.added')
    const ids = added.map(({ item }) => item.id)
    expect(added.map(({ previous_item_id: previous }) => previous)).toEqual([null, ...ids.slice(0, -1)])
    expect(ids).toHaveLength(4)
  })

  it('grants truncations and deletions', () => {
    const conversation = new Conversation()
    const truncate = { type: 'conversation.item.truncate', item_id: 'i', audio_end_ms: 40 }
    expect(JSON.parse(conversation.client(truncate, 0)[0] ?? '')).toMatchObject({
      type: 'conversation.item.truncated',
      item_id: 'i',
      audio_end_ms: 40,
    })
    expect(typesOf(conversation.client({ type: 'conversation.item.delete', item_id: 'i' }, 0))).toEqual([
      'conversation.item.deleted',
    ])
  })
})
