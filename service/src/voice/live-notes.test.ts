import { describe, expect, it } from 'vitest'
import { type LiveEvent, LiveEvents } from './live-events.ts'
import { tellNote, tellTurn } from './live-notes.ts'
import type { Turn } from './session/events.ts'

const TURN: Turn = {
  ...{ itemId: 'item_1', seq: 3, role: 'agent', text: 'Yes, pl', unheard: 'ease hold.', interrupted: true },
  ...{ startMs: 1_000, endMs: 1_400, sentMs: 900, heardMs: 400, costUsd: 0.004 },
}

function told(tell: (events: LiveEvents) => void): LiveEvent[] {
  const events = new LiveEvents()
  const all: LiveEvent[] = []
  events.watch(0, (event) => all.push(event))
  tell(events)
  return all
}

describe('those who watch a call', () => {
  it('are told what was heard of a turn, and what was not', () => {
    expect(told((events) => tellTurn(events, TURN))).toEqual([
      {
        ...{ id: 1, event: 'turn' },
        data: {
          ...{ item_id: 'item_1', seq: 3, role: 'agent', text: 'Yes, pl', unheard: 'ease hold.' },
          ...{ start_ms: 1_000, end_ms: 1_400, interrupted: true, cost_usd: 0.004 },
        },
      },
    ])
  })

  it('are told of a person who is gone what the call does by then', () => {
    const [gone] = told((events) => tellNote(events, { type: 'taken_over', state: 'draining', isOn: false }))
    expect(gone).toEqual({ id: 1, event: 'state', data: { state: 'draining', taken_over: false } })
  })

  it('are told as much of an endless turn as is kept of it', () => {
    const text = 'x'.repeat(1_000_000)
    const [turn] = told((events) => tellTurn(events, { ...TURN, text, unheard: text }))
    const [delta] = told((events) => tellNote(events, { type: 'turn_delta', itemId: 'item_1', role: 'agent', text }))
    const kept = [turn?.data['text'], turn?.data['unheard'], delta?.data['text']]
    expect(kept.map((each) => String(each).length)).toEqual([65_536, 65_536, 65_536])
  })
})
