import { describe, expect, it } from 'vitest'
import { type Change, isLegal } from './legal-order.ts'

const change = (action: Change['action'], status: Change['status'], atMs: number): Change => ({ action, status, atMs })
const CREATED = change('create', 'open', 0)
const CLAIMED = change('claim', 'claimed', 1)

describe('what was done to a task', () => {
  it('is legal when each of it may follow what was before', () => {
    expect(isLegal([CREATED, CLAIMED, change('complete', 'completed', 2), change('reopen', 'open', 3)])).toBe(true)
    expect(isLegal([CREATED, change('dispatch', 'dispatching', 1), change('settle', 'open', 2)])).toBe(true)
  })

  it('may have been done in any order at the same instant', () => {
    expect(isLegal([CREATED, change('complete', 'completed', 1), CLAIMED])).toBe(true)
  })

  it.each([
    ['two claims', [CREATED, CLAIMED, change('claim', 'claimed', 2)]],
    ['two claims at once', [CREATED, CLAIMED, CLAIMED]],
    ['a task that nobody created', [CLAIMED]],
    ['one that was created twice', [CREATED, CREATED]],
    ['a note that moves it', [CREATED, change('acknowledge', 'claimed', 1)]],
    [
      'a snoozed one that is dispatched',
      [CREATED, change('snooze', 'snoozed', 1), change('dispatch', 'dispatching', 2)],
    ],
  ])('is not with %s', (_what, changes) => {
    expect(isLegal(changes)).toBe(false)
  })
})
