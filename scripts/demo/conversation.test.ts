import { describe, expect, it } from 'vitest'
import { Conversation } from './conversation.ts'

const turn = (turnOf: Record<string, unknown>) => ({
  event: 'turn',
  data: { item_id: 'item_1', seq: 1, role: 'agent', text: 'Hello.', start_ms: 500, interrupted: false, ...turnOf },
})
const delta = (text: string) => ({ event: 'turn_delta', data: { item_id: 'item_1', role: 'agent', text } })

/** What is printed of these events. */
function told(...events: { event: string; data: Record<string, unknown> }[]): string[] {
  const conversation = new Conversation('Robin')
  return events.flatMap((event) => conversation.take(event))
}

describe('a conversation in the terminal', () => {
  it('tells a turn when it is over, under the name of who spoke', () => {
    expect(told(delta('Hel'), delta('lo.'), turn({}))).toEqual(['   0.5 s  Robin    Hello.'])
    expect(told(turn({ role: 'caller', text: 'Hi.', start_ms: 12_340 }))).toEqual(['  12.3 s  caller   Hi.'])
  })

  it('tells how quickly the agent answered, at the answer and not at what the caller said meanwhile', () => {
    const latency = { event: 'latency', data: { response_ms: 640 } }
    expect(told(latency, turn({ role: 'caller', item_id: 'item_0' }), turn({}), turn({ item_id: 'item_2' }))).toEqual([
      '   0.5 s  caller   Hello.',
      '   0.5 s  Robin    Hello.  (answered after 640 ms)',
      '   0.5 s  Robin    Hello.',
    ])
  })

  it('tells what of an interrupted answer nobody heard', () => {
    expect(
      told(delta('We are open '), delta('from nine to five.'), turn({ text: 'We are open from', interrupted: true })),
    ).toEqual(['   0.5 s  Robin    We are open from', '                   interrupted; not heard: "nine to five."'])
  })

  it('tells a turn that was only moved once, and one whose words changed again', () => {
    expect(told(turn({}), turn({ seq: 2 }), turn({ text: 'Hello you.' }))).toEqual([
      '   0.5 s  Robin    Hello.',
      '   0.5 s  Robin    Hello you.  (corrected)',
    ])
  })

  it('tells how a tool went, and how the session ended', () => {
    const tool = (status: string) => ({ event: 'tool', data: { call_id: 'call_1', name: 'end_call', status } })
    const ended = { event: 'ended', data: { end_reason: 'agent_hangup' } }
    expect(told(tool('started'), tool('ok'), tool('timeout'), ended)).toEqual([
      '          tool     end_call: done',
      '          tool     end_call: timeout',
      '                   the session has ended: agent hangup',
    ])
  })
})
