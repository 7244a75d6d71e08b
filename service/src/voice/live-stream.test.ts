import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { until } from '../../test/harness/wait.ts'
import { LiveEvents } from './live-events.ts'
import { eventStream } from './live-stream.ts'

describe('an event stream', () => {
  it('that is not read is given up, and leaves nothing', async () => {
    const [clock, events] = [new TestClock(), new LiveEvents()]
    const stream = eventStream(events, 0, clock)
    for (let i = 0; i < 100; i++) events.publish('turn_delta', { text: 'x'.repeat(1_000) })
    expect(stream.destroyed).toBe(true)
    expect(clock.pendingTimers).toBe(0)
  })

  it('that is too long at once is given up, and leaves nothing', () => {
    const [clock, events] = [new TestClock(), new LiveEvents()]
    for (let i = 0; i < 100; i++) events.publish('turn_delta', { text: 'x'.repeat(1_000) })
    expect(eventStream(events, 0, clock).destroyed).toBe(true)
    expect(clock.pendingTimers).toBe(0)
  })

  it('ends with the call, and leaves nothing', async () => {
    const [clock, events] = [new TestClock(), new LiveEvents()]
    const stream = eventStream(events, 0, clock)
    events.publish('ended', { end_reason: 'caller_hangup' })
    const text = Buffer.concat(await stream.toArray()).toString()
    expect(text).toBe('retry: 1000\n\nid: 1\nevent: ended\ndata: {"end_reason":"caller_hangup"}\n\n')
    await until(() => clock.pendingTimers === 0, { what: 'the end of the heartbeat' })
  })
})
