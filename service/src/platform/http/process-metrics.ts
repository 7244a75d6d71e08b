import { constants, PerformanceObserver } from 'node:perf_hooks'
import { Gauge, Histogram, type Registry } from 'prom-client'
import measureHeap from 'prom-client/lib/metrics/heapSizeAndUsed.js'
import measureMemory from 'prom-client/lib/metrics/osMemoryHeap.js'
import measureCpu from 'prom-client/lib/metrics/processCpuTotal.js'
import measureMaxDescriptors from 'prom-client/lib/metrics/processMaxFileDescriptors.js'
import measureDescriptors from 'prom-client/lib/metrics/processOpenFileDescriptors.js'
import measureResources from 'prom-client/lib/metrics/processResources.js'
import measureStart from 'prom-client/lib/metrics/processStartTime.js'
import measureVersion from 'prom-client/lib/metrics/version.js'
import type { EventLoopWatch } from '../event-loop.ts'

const MS_PER_SECOND = 1_000

const GC_KINDS = new Map([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
])

/**
 * Adds the usual metrics of a Node process to `registry`; the function it returns ends the observer among them.
 *
 * Those of prom-client that only read are taken from it. Its observers of the event loop and the garbage collector are not:
 * they cannot be stopped, and would pile up with every server that a process makes.
 */
export function measureProcess(registry: Registry, eventLoop: EventLoopWatch): () => void {
  const parts = [measureCpu, measureStart, measureMemory, measureDescriptors, measureMaxDescriptors]
  for (const measure of [...parts, measureResources, measureHeap, measureVersion]) measure(registry)
  measureLag(registry, eventLoop)
  return measureCollections(registry)
}

/** How late the event loop was since the last time the metrics were read. */
function measureLag(registry: Registry, eventLoop: EventLoopWatch): void {
  const gauge = (name: string, help: string, collect?: (this: Gauge) => void) =>
    new Gauge({ name, help, registers: [registry], ...(collect ? { collect } : {}) })
  // The first one, because each is read in turn: it sets the others before they are.
  gauge('nodejs_eventloop_lag_mean_seconds', 'Mean lag of the event loop since the last reading.', function () {
    const { meanMs, p50Ms, p99Ms, maxMs } = eventLoop.lag()
    this.set(meanMs / MS_PER_SECOND)
    p50.set(p50Ms / MS_PER_SECOND)
    p99.set(p99Ms / MS_PER_SECOND)
    max.set(maxMs / MS_PER_SECOND)
  })
  const p50 = gauge('nodejs_eventloop_lag_p50_seconds', 'Median of that lag.')
  const p99 = gauge('nodejs_eventloop_lag_p99_seconds', '99th percentile of that lag.')
  const max = gauge('nodejs_eventloop_lag_max_seconds', 'Greatest such lag.')
}

function measureCollections(registry: Registry): () => void {
  const durations = new Histogram({
    name: 'nodejs_gc_duration_seconds',
    help: 'Duration of garbage collections by kind.',
    labelNames: ['kind'],
    buckets: [0.001, 0.01, 0.1, 1],
    registers: [registry],
  })
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) durations.observe({ kind: gcKind(entry) }, entry.duration / MS_PER_SECOND)
  })
  observer.observe({ entryTypes: ['gc'] })
  return () => observer.disconnect()
}

/** Node's types leave out the `detail` that its entries of this kind have. */
function gcKind(entry: object): string {
  const detail = 'detail' in entry ? entry.detail : undefined
  const kind = typeof detail === 'object' && detail !== null && 'kind' in detail ? detail.kind : undefined
  return (typeof kind === 'number' && GC_KINDS.get(kind)) || 'other'
}
