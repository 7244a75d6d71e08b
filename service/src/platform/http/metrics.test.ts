import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../../../test/harness/wait.ts'
import { systemClock } from '../../kernel/clock.ts'
import { CoarseClock } from '../../kernel/coarse-clock.ts'
import { testServer } from './http.fixture.ts'
import { type Metrics, makeMetrics } from './metrics.ts'

function metrics() {
  const made = makeMetrics(new CoarseClock(systemClock))
  onTestFinished(() => made.stop())
  return made
}

/** Lets the event loop run for so long. */
async function elapsed(ms: number): Promise<void> {
  const startMs = performance.now()
  await until(() => performance.now() - startMs >= ms, { what: `${ms} ms` })
}

async function sampleOf(made: Metrics, name: string): Promise<number> {
  const line = new RegExp(`^${name}[ {].*`, 'm').exec(await made.text())?.[0] ?? ''
  return Number(line.split(' ').at(-1))
}

/** The greatest lag that is seen when the event loop is held up for 60 ms. */
async function lagSeconds(made: Metrics): Promise<number> {
  await made.text()
  await elapsed(50)
  const endMs = performance.now() + 60
  while (performance.now() < endMs) Math.sqrt(2)
  await elapsed(50)
  return sampleOf(made, 'nodejs_eventloop_lag_max_seconds')
}

function collections(made: Metrics): Promise<number> {
  return sampleOf(made, 'nodejs_gc_duration_seconds_count')
}

/** What `gc()` does in a process that was started with it. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

describe('makeMetrics', () => {
  it('counts requests and their durations', async () => {
    const { observeRequest, text } = metrics()
    for (const durationMs of [4, 40, 400])
      observeRequest({ method: 'GET', route: '/things/:id', status: 200, durationMs })
    const lines = (await text()).split('\n')
    expect(lines).toContain('http_requests_total{method="GET",route="/things/:id",status="200"} 3')
    expect(lines).toContain('http_request_duration_seconds_sum{method="GET",route="/things/:id"} 0.444')
    expect(lines).toContain('http_request_duration_seconds_bucket{le="0.05",method="GET",route="/things/:id"} 2')
  })

  it('does not grow with what clients make up', async () => {
    const { observeRequest, text } = metrics()
    for (const method of ['PROPFIND', 'REPORT', 'LOCK'])
      observeRequest({ method, route: null, status: 404, durationMs: 1 })
    expect((await text()).match(/^http_requests_total.*/gm)).toEqual([
      'http_requests_total{method="other",route="unknown",status="404"} 3',
    ])
  })

  it('tells of the process: memory, CPU, descriptors, event loop, garbage collection', async () => {
    const { text } = metrics()
    const names = new Set(Array.from((await text()).matchAll(/^# TYPE (\S+)/gm), ([, name]) => name))
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'process_start_time_seconds',
      'process_open_fds',
      'nodejs_heap_size_used_bytes',
      'nodejs_eventloop_lag_p50_seconds',
      'nodejs_eventloop_lag_p99_seconds',
      'nodejs_eventloop_lag_max_seconds',
      'nodejs_eventloop_lag_mean_seconds',
      'nodejs_gc_duration_seconds',
    ]) {
      expect(names).toContain(name)
    }
  })

  it('sees how long the event loop was held up, until it is stopped', async () => {
    const made = metrics()
    expect(await lagSeconds(made)).toBeGreaterThan(0.03)
    made.stop()
    expect(await lagSeconds(made)).toBe(0)
  })

  it('sees garbage collections, until it is stopped', async () => {
    const made = metrics()
    collectGarbage()
    const count = await until(async () => (await collections(made)) || null, { what: 'a garbage collection' })
    made.stop()
    collectGarbage()
    await elapsed(50)
    expect(await collections(made)).toBe(count)
  })

  it('keeps each registry to itself', async () => {
    const [one, other] = [metrics(), metrics()]
    one.observeRequest({ method: 'GET', route: '/', status: 200, durationMs: 1 })
    expect(await other.text()).not.toContain('http_requests_total{')
  })

  it('may be stopped twice, and still be read', async () => {
    const made = makeMetrics(new CoarseClock(systemClock))
    made.stop()
    made.stop()
    expect(await made.text()).toContain('process_cpu_seconds_total')
  })
})

describe('a server', () => {
  it('counts what it answered by the pattern of the route', async () => {
    const { server, metricsText } = testServer()
    server.get('/things/:id', async () => ({ ok: true }))
    for (const id of ['1', '2']) await server.inject({ url: `/things/${id}` })
    await server.inject({ url: '/nowhere' })
    await server.inject({ url: '/%zz' })
    expect((await metricsText()).match(/^http_requests_total.*/gm)).toEqual([
      'http_requests_total{method="GET",route="/things/:id",status="200"} 2',
      'http_requests_total{method="GET",route="unknown",status="404"} 1',
      'http_requests_total{method="GET",route="unknown",status="400"} 1',
    ])
  })
})
