import { describe, expect, it } from 'vitest'
import type { CallEvent } from '../../../simulator/src/carrier/timeline.ts'
import { CallWatch } from './call-watch.ts'

/** A call that does what the test says. */
function aCall() {
  const watchers = new Set<(event: CallEvent) => void>()
  const streams: { receivedBytes: number }[] = []
  const call = {
    sid: 'CA1',
    status: 'in-progress' as const,
    streams: streams as never,
    watch: (watcher: (event: CallEvent) => void) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
  }
  const happen = (event: Omit<CallEvent, 'atMs'>) => {
    for (const watcher of watchers) watcher({ ...event, atMs: 0 } as CallEvent)
  }
  return { call, streams, happen }
}

describe('what is noted of a call', () => {
  it('has each stream with its first audio and its end, and what the caller said', () => {
    const { call, streams, happen } = aCall()
    let nowMs = 100
    const watch = new CallWatch(call, () => nowMs)
    streams.push({ receivedBytes: 0 })
    happen({ kind: 'stream-started', streamSid: 'MZ1', url: '' } as CallEvent)
    watch.look(110)
    const [first] = streams
    if (first) first.receivedBytes = 160
    watch.look(120)
    watch.look(130)
    nowMs = 140
    happen({ kind: 'caller-began', text: 'Hello' } as CallEvent)
    nowMs = 150
    happen({ kind: 'caller-ended' })
    nowMs = 160
    happen({ kind: 'stream-ended', streamSid: 'MZ1', end: 'lost' } as CallEvent)
    nowMs = 170
    happen({ kind: 'hang-up', by: 'rest' } as CallEvent)
    expect(watch.seen()).toEqual({
      sid: 'CA1',
      status: 'in-progress',
      endedBy: 'rest',
      endedMs: 170,
      streams: [{ startedMs: 100, firstMediaMs: 120, endedMs: 160 }],
      talked: [{ beganMs: 140, endedMs: 150 }],
    })
  })
})
