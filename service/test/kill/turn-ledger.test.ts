import { describe, expect, it } from 'vitest'
import { TurnLedger } from './turn-ledger.ts'

const turn = (seq: number, role: string, text: string, start_ms = seq * 1_000) => ({ seq, role, text, start_ms })
const SHOWN = [turn(1, 'agent', 'Hello there'), turn(2, 'caller', 'Some apples')]

describe('the ledger of turns', () => {
  const ledger = new TurnLedger()
  ledger.note('CA1', [turn(1, 'agent', 'Hello')])
  ledger.note('CA1', SHOWN)

  it('counts what was shown last', () => {
    expect([ledger.count, ledger.talking]).toEqual([2, 1])
  })

  it('finds nothing wrong with what is there once, also when more came or one was cut to what was heard', () => {
    const none = { lost: [], doubled: [] }
    expect(ledger.compare('CA1', [...SHOWN, turn(3, 'agent', 'Done')])).toEqual(none)
    expect(ledger.compare('CA1', [turn(1, 'agent', 'Hello'), turn(2, 'caller', 'Some apples')])).toEqual(none)
    expect(ledger.compare('CA2', [turn(1, 'agent', 'Hi')])).toEqual(none)
  })

  it('names what is missing or has become another', () => {
    expect(ledger.compare('CA1', SHOWN.slice(1)).lost).toEqual(['CA1 1 agent: Hello there'])
    expect(ledger.compare('CA1', [turn(1, 'agent', 'Other'), turn(2, 'caller', 'Some apples')]).lost).toHaveLength(1)
  })

  it('names what is there twice: a place, or the words of a caller', () => {
    expect(ledger.compare('CA1', [...SHOWN, turn(2, 'caller', 'Else')]).doubled).toHaveLength(1)
    expect(ledger.compare('CA1', [...SHOWN, turn(5, 'caller', 'Some apples')]).doubled).toHaveLength(1)
    expect(ledger.compare('CA1', [...SHOWN, turn(5, 'agent', 'Hello there')]).doubled).toEqual([])
  })
})
