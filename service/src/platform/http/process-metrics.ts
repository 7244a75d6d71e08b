import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import { Gauge, Histogram, type Registry } from 'prom-client'
import measureHeap from 'prom-client/lib/metrics/heapSizeAndUsed.js'
import measureMemory from 'prom-client/lib/metrics/osMemoryHeap.js'
import measureCpu from 'prom-client/lib/metrics/processCpuTotal.js'
import measureMaxDescriptors from 'prom-client/lib/metrics/processMaxFileDescriptors.js'
import measureDescriptors from 'prom-client/lib/metrics/processOpenFileDescriptors.js'
import measureResources from 'prom-client/lib/metrics/processResources.js'
import measureStart from 'prom-client/lib/metrics/processStartTime.js'
import measureVersion from 'prom-client/lib/metrics/version.js'

/** How often the event loop is asked how late it is. */
const LAG_RESOLUTION_MS = 10

const NANOSECONDS = 1e9

const GC_KINDS = new Map([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
])

/**
 * Adds the usual metrics of a Node process to `registry`; the function it returns ends the two observers among them.
 *
 * Those of prom-client that only read are taken from it. Its observers of the event loop and the garbage collector are not:
 * they cannot be stopped, and would pile up with every server that a process makes.
 */
export function measureProcess(registry: Registry): () => void {
  const parts = [measureCpu, measureStart, measureMemory, measureDescriptors, measureMaxDescriptors]
  for (const measure of [...parts, measureResources, measureHeap, measureVersion]) measure(registry)
  const stopLag = measureLag(registry)
  const stopCollections = measureCollections(registry)
  return () => {
    stopLag()
    stopCollections()
  }
}

/** How late the event loop was since the last time the metrics were read. */
function measureLag(registry: Registry): () => void {
  const delays = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS })
  delays.enable()
  // What is measured is the time from one look to the next: the lag is what it exceeds the resolution by.
  const seconds = (nanoseconds: number) =>
    Math.max(0, (Number.isFinite(nanoseconds) ? nanoseconds : 0) / NANOSECONDS - LAG_RESOLUTION_MS / 1000)
  const gauge = (name: string, help: string, collect?: (this: Gauge) => void) =>
    new Gauge({ name, help, registers: [registry], ...(collect ? { collect } : {}) })
  // The first one, because each is read in turn: it sets the others before they are.
  gauge('nodejs_eventloop_lag_mean_seconds', 'Mean lag of the event loop since the last reading.', function () {
    this.set(seconds(delays.mean))
    p50.set(seconds(delays.percentile(50)))
    p99.set(seconds(delays.percentile(99)))
    max.set(seconds(delays.max))
    delays.reset()
  })
  const p50 = gauge('nodejs_eventloop_lag_p50_seconds', 'Median of that lag.')
  const p99 = gauge('nodejs_eventloop_lag_p99_seconds', '99th percentile of that lag.')
  const max = gauge('nodejs_eventloop_lag_max_seconds', 'Greatest such lag.')
  return () => void delays.disable()
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
    for (const entry of list.getEntries()) durations.observe({ kind: gcKind(entry) }, entry.duration / 1000)
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
