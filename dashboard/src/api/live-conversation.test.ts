import { describe, expect, it } from 'vitest'
import { afterEvent, LEFT, NOTHING_SAID, withoutOpen, withWritten } from './live-conversation.ts'

type Told = [event: string, data: object]
const after = (...told: Told[]) =>
  told.reduce((known, [event, data]) => afterEvent(known, { event, data }), NOTHING_SAID)

const words = (id: string, text: string): Told => ['turn_delta', { item_id: id, role: 'agent', text }]
const turn = (id: string, startMs: number, more: object = {}): Told => [
  'turn',
  { item_id: id, seq: startMs, role: 'agent', text: id, unheard: '', start_ms: startMs, interrupted: false, ...more },
]

describe('a conversation, as its events tell it', () => {
  it('grows by words until the turn says what was heard of them', () => {
    expect(after(words('a', 'Hel'), words('a', 'lo.')).turns).toMatchObject([{ text: 'Hello.', isOpen: true }])
    const heard = { text: 'Hel', unheard: 'lo.', interrupted: true }
    expect(after(words('a', 'Hello.'), turn('a', 10, heard)).turns).toMatchObject([{ ...heard, isOpen: false }])
  })

  it('stays as it is when words come again that a turn holds', () => {
    expect(after(turn('a', 10), words('a', 'more')).turns).toMatchObject([{ text: 'a', isOpen: false }])
  })

  it('stands in the order in which it was said, and not in which it was written down', () => {
    const { turns } = after(turn('greeting', 10), words('answer', 'Yes'), turn('question', 500, { role: 'caller' }))
    expect(turns.map(({ item_id }) => item_id)).toEqual(['greeting', 'question', 'answer'])
  })

  it('gives a measured wait to the answer that is heard, before or after its first words', () => {
    expect(after(['latency', { response_ms: 320 }], words('a', 'Yes')).turns).toMatchObject([{ response_ms: 320 }])
    const { turns } = after(turn('a', 1), words('b', 'Yes'), ['latency', { response_ms: 410 }], words('c', 'And'))
    expect(turns.map(({ response_ms }) => response_ms)).toEqual([null, 410, null])
  })

  it('knows of a tool what was told last', () => {
    const { tools } = after(
      ['tool', { call_id: '1', name: 'end_call', status: 'running' }],
      ['tool', { call_id: '1', name: 'end_call', status: 'ok' }],
    )
    expect(tools).toEqual([{ call_id: '1', name: 'end_call', status: 'ok' }])
  })

  it('knows who has the call, and why it ended', () => {
    const taken: Told = ['state', { state: 'talking', taken_over: true }]
    expect(after(taken, ['state', { state: 'detached' }])).toMatchObject({ isTakenOver: true })
    expect(after(taken, ['state', { state: 'talking', taken_over: false }]).isTakenOver).toBe(false)
    expect(after(taken, ['ended', { end_reason: 'caller_hangup' }])).toMatchObject({
      endReason: 'caller_hangup',
      isTakenOver: false,
    })
  })

  it('knows that it has moved, which is no end', () => {
    const taken: Told = ['state', { state: 'talking', taken_over: true }]
    expect(after(taken, ['moved', { call_sid: 'CA1' }])).toMatchObject({
      endReason: null,
      isTakenOver: false,
      hasMoved: true,
    })
  })

  const left: Told = [LEFT.event, {}]

  it('goes on with what was being said when it was left, until the turn says what was heard of that', () => {
    expect(after(words('b', 'Yes'), left, words('b', ', sure.')).turns).toMatchObject([{ text: 'Yes, sure.' }])
    const caller = turn('c', 5, { role: 'caller' })
    expect(after(words('b', 'Yes'), left, caller, turn('b', 10)).turns.map(({ text }) => text)).toEqual(['c', 'b'])
  })

  it('drops what was being said then once the same one says something else, or the call is gone', () => {
    const later = after(turn('a', 10), words('b', 'Yes'), left, words('c', 'No'))
    expect(later.turns.map(({ text }) => text)).toEqual(['a', 'No'])
    expect(withoutOpen(after(turn('a', 10), words('b', 'Yes'), left)).turns).toMatchObject([{ text: 'a' }])
  })

  it('is made whole by what is written down, where events have not told of it', () => {
    const spoken = { role: 'agent', agent_name: null, unheard: '', interrupted: false } as const
    const written = (seq: number, text: string) => ({ ...spoken, seq, text, start_ms: seq, end_ms: seq + 5 })
    const told = after(turn('a', 10), turn('c', 30), words('d', 'Yes'))
    const whole = withWritten(told, [written(10, 'a'), written(20, 'b'), written(30, 'c')])
    expect(whole.turns).toMatchObject([{ text: 'a' }, { text: 'b' }, { text: 'c' }, { text: 'Yes', isOpen: true }])
    expect(withWritten(told, [written(10, 'a')])).toBe(told)
  })
})
