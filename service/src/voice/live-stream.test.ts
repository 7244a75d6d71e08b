import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { until } from '../../test/harness/wait.ts'
import { LiveEvents } from './live-events.ts'
import { eventStream } from './live-stream.ts'

describe('an event stream', () => {
  it('that is not read is given up, and leaves nothing', async () => {
    const [clock, events] = [new TestClock(), new LiveEvents()]
    const stream = eventStream(events, 0, { clock, mayStay: async () => true })
    for (let i = 0; i < 100; i++) events.publish('turn_delta', { text: 'x'.repeat(1_000) })
    expect(stream.destroyed).toBe(true)
    expect(clock.pendingTimers).toBe(0)
  })

  it('begins with all that is kept, however long it is, and is given up only for what comes after', () => {
    const [clock, events] = [new TestClock(), new LiveEvents()]
    events.publish('turn', { item_id: 'first', text: '\u0001'.repeat(40_000) })
    for (let i = 0; i < 256; i++) events.publish('turn', { item_id: `item_${i}`, text: '\u0001'.repeat(200) })
    const stream = eventStream(events, 0, { clock, mayStay: async () => true })
    for (let i = 0; i < 60; i++) events.publish('turn_delta', { text: 'x'.repeat(1_000) })
    expect(stream.destroyed).toBe(false)
    for (let i = 0; i < 10; i++) events.publish('turn_delta', { text: 'x'.repeat(1_000) })
    expect(stream.destroyed).toBe(true)
    expect(clock.pendingTimers).toBe(0)
  })

  it('that is read takes an event of any length', async () => {
    const [clock, events] = [new TestClock(), new LiveEvents()]
    const stream = eventStream(events, 0, { clock, mayStay: async () => true })
    for (let i = 0; i < 3; i++) {
      events.publish('turn', { item_id: `item_${i}`, text: 'x'.repeat(200_000) })
      expect(stream.destroyed).toBe(false)
      expect(String(stream.read())).toContain(`"item_id":"item_${i}"`)
    }
    stream.destroy()
  })

  it.each([
    ['the call', 'ended', { end_reason: 'caller_hangup' }],
    ['what the call has here, when it moves', 'moved', { call_sid: 'CA1' }],
  ] as const)('ends with %s, and leaves nothing', async (_what, event, data) => {
    const [clock, events] = [new TestClock(), new LiveEvents()]
    const stream = eventStream(events, 0, { clock, mayStay: async () => true })
    events.publish(event, data)
    const text = Buffer.concat(await stream.toArray()).toString()
    expect(text).toBe(`retry: 1000\n\nid: 1\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
    await until(() => clock.pendingTimers === 0, { what: 'the end of the heartbeat' })
  })
})
