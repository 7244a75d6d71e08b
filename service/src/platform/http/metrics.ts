import { Counter, Histogram, Registry } from 'prom-client'
import type { CoarseClock } from '../../kernel/coarse-clock.ts'
import { type EventLoopWatch, watchEventLoop } from '../event-loop.ts'
import { measureProcess } from './process-metrics.ts'

/** One answered request. `route` is the pattern it matched, null when there was none. */
export type RequestSample = { method: string; route: string | null; status: number; durationMs: number }

/** The numbers of this process, in a registry of its own: other parts add theirs to `registry`. */
export type Metrics = {
  registry: Registry
  /** Its `lag` is read by the metrics alone. */
  eventLoop: EventLoopWatch
  observeRequest(sample: RequestSample): void
  /** Everything in the text format of Prometheus. */
  text(): Promise<string>
  contentType: string
  /** Ends the observers of the event loop and the garbage collector. Repeating it does nothing. */
  stop(): void
}

/** From an answer out of memory to the slowest that a client waits for. */
const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** What a client may put into a label; the rest is `other`, so that nobody can grow the number of series. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Makes the metrics of a process: its own (memory, CPU, event loop, garbage collection) and those of the HTTP requests. */
export function makeMetrics(clock: CoarseClock): Metrics {
  const registry = new Registry()
  const eventLoop = watchEventLoop(clock)
  const stopCollections = measureProcess(registry, eventLoop)
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Answered HTTP requests.',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'From the last byte of the request headers to the last byte of the answer.',
    labelNames: ['method', 'route'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [registry],
  })
  return {
    registry,
    eventLoop,
    contentType: registry.contentType,
    text: () => registry.metrics(),
    stop() {
      eventLoop.stop()
      stopCollections()
    },
    observeRequest({ method, route, status, durationMs }) {
      const labels = { method: METHODS.has(method) ? method : 'other', route: route ?? 'unknown' }
      requests.inc({ ...labels, status })
      durations.observe(labels, durationMs / 1000)
    },
  }
}
