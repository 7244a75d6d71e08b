import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { LiveEvents } from './live-events.ts'
import { ToldCalls } from './told-calls.ts'

/** A call of which three events were told. */
function over(): LiveEvents {
  const events = new LiveEvents()
  events.publish('state', { state: 'waiting' })
  events.publish('state', { state: 'talking' })
  events.publish('ended', { end_reason: 'caller_hangup' })
  return events
}

describe('what was told of a call that ended', () => {
  it('is for who has not all of it, for a minute, and holds no timer', async () => {
    const clock = new TestClock()
    const told = new ToldCalls(clock)
    const events = over()
    told.keep(['MZ1', 'MZ2'], events)
    expect([1, 2].map((id) => told.rest('MZ1', id))).toEqual([events, events])
    expect(told.rest('MZ2', 1)).toBe(events)
    // Who has never watched it, or has all of it, gets nothing.
    expect([0, 3, 4].map((id) => told.rest('MZ1', id))).toEqual([null, null, null])
    expect([told.rest('MZ3', 1), clock.pendingTimers]).toEqual([null, 0])
    await clock.advance(59_999)
    expect(told.rest('MZ1', 1)).toBe(events)
    await clock.advance(1)
    expect(told.rest('MZ1', 1)).toBeNull()
  })

  it('is kept of the hundred that ended last', () => {
    const told = new ToldCalls(new TestClock())
    for (let n = 1; n <= 101; n++) told.keep([`MZ${n}`], over())
    expect([told.rest('MZ1', 1) === null, told.rest('MZ2', 1) === null]).toEqual([true, false])
  })

  it('is kept no more once the end was not that of the call', () => {
    const told = new ToldCalls(new TestClock())
    const events = over()
    told.keep(['MZ1'], events)
    told.forget(events)
    expect(told.rest('MZ1', 1)).toBeNull()
  })
})
