import { Readable } from 'node:stream'
import type { Clock } from '../kernel/clock.ts'
import { whenSentAway } from '../platform/http/still-let-in.ts'
import { isLast, type LiveEvent, type WatchedEvents } from './live-events.ts'

/** So that a proxy does not take a quiet call for a dead connection. */
const HEARTBEAT_MS = 15_000
/**
 * A reader that is so far behind is let go: it comes back with the id of the last event that it has. What is kept of the call
 * when it comes is not counted, or it would be let go for that each time.
 */
const MAX_WAITING_BYTES = 64 * 1024

type Deps = {
  clock: Clock
  /** Whether the reader may still watch; rejects when that is not known now. */
  mayStay(): Promise<boolean>
}

/**
 * The events of a call as server-sent events, from after `afterId` on. Ends with the last event that the call has here; a reader that does
 * not keep up is cut off, and so is one whose events break off: it comes back for the rest. One that may not stay comes back
 * in vain.
 */
export function eventStream(events: WatchedEvents, afterId: number, { clock, mayStay }: Deps): Readable {
  let stopWatching = () => {}
  const stopAsking = whenSentAway(clock, mayStay, () => stream.destroy())
  const stopHeartbeat = clock.every(HEARTBEAT_MS, () => write(': alive\n\n'))
  const stream = new Readable({
    read() {},
    destroy(error, done) {
      stopHeartbeat()
      stopAsking()
      stopWatching()
      done(error)
    },
  })
  let isOver = false
  let maxWaitingBytes = Number.POSITIVE_INFINITY

  function write(text: string): void {
    if (isOver || stream.destroyed) return
    // However long one event is, a reader that has taken all before it is not behind.
    if (stream.readableLength > maxWaitingBytes) stream.destroy()
    else stream.push(text)
  }

  function tell(event: LiveEvent): void {
    write(textOf(event))
    if (!isLast(event) || stream.destroyed) return
    isOver = true
    stream.push(null)
  }

  // Sends the headers on their way, and says how soon to come back.
  write('retry: 1000\n\n')
  stopWatching = events.watch(afterId, tell, () => stream.destroy())
  maxWaitingBytes = stream.readableLength + MAX_WAITING_BYTES
  return stream
}

function textOf({ id, event, data }: LiveEvent): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
