import { describe, expect, it } from 'vitest'
import { CrashLedger, doubledDials } from './crash-ledger.ts'

describe('the ledger of a crash', () => {
  it('takes what was acknowledged and what was tried after it, and nothing else', () => {
    const ledger = new CrashLedger()
    Object.assign(ledger.names, { tried: 5, acknowledged: 4 })
    expect([3, 4, 5, 6].map((name) => ledger.isNamePossible(name))).toEqual([false, true, true, false])
  })

  it('counts what was told', () => {
    const ledger = new CrashLedger()
    expect(ledger.told).toBe(0)
    ledger.names.acknowledged = 2
    ledger.rollouts.acknowledged = 1
    ledger.revoked.push('token')
    ledger.streams.add('CA1')
    ledger.turns.note('CA1', [{ seq: 1, role: 'agent', text: 'Hello', start_ms: 0 }])
    ledger.kept.push({ callSid: 'CA1', role: 'agent', text: 'Hello' })
    ledger.blocked.push('+3')
    ledger.dials.set('one', { to: '+1', callSid: 'CA2' }).set('two', { to: '+2', callSid: null })
    expect(ledger.told).toBe(8)
  })

  it('finds the numbers that were dialled more than once', () => {
    const dial = (To: string) => ({
      method: 'POST',
      path: '/2010-04-01/Accounts/AC1/Calls.json',
      body: new URLSearchParams({ To }).toString(),
    })
    const other = { method: 'POST', path: '/2010-04-01/Accounts/AC1/Calls/CA1.json', body: 'Status=completed' }
    expect(doubledDials([dial('+1'), other, dial('+2'), other, dial('+1')])).toEqual(['+1'])
  })
})
