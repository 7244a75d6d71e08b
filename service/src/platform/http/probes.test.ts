import { describe, expect, it, onTestFinished } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { systemClock } from '../../kernel/clock.ts'
import { CoarseClock } from '../../kernel/coarse-clock.ts'
import { makeLog } from '../log.ts'
import { testServer } from './http.fixture.ts'
import { makeMetrics } from './metrics.ts'
import { type Phase, probes } from './probes.ts'

function probed() {
  const clock = new TestClock()
  const lines: string[] = []
  const log = makeLog({ level: 'info', secrets: [], destination: { write: (line) => lines.push(line) } })
  const metrics = makeMetrics(new CoarseClock(systemClock))
  onTestFinished(() => metrics.stop())
  const state: { phase: Phase; down: string | null } = { phase: 'serving', down: null }
  const checks = ['database', 'bus', 'redis'].map((name) => ({
    name,
    isOptional: name === 'redis',
    check: async () => {
      if (state.down === name) throw new Error('connect ECONNREFUSED 10.1.2.3:5432 password=swordfish')
    },
  }))
  const test = testServer()
  test.server.register(
    probes({ clock, log, metrics, version: '1.2.3', commit: 'c0ffee', phase: () => state.phase, checks }),
  )
  return { ...test, clock, metrics, state, logText: () => lines.join('') + test.logText(), logLines: test.logLines }
}

describe('/livez', () => {
  it('is fine as long as it answers', async () => {
    const { server, state } = probed()
    state.down = 'database'
    state.phase = 'stopping'
    expect((await server.inject({ url: '/livez' })).json()).toEqual({ ok: true })
  })
})

describe('/readyz', () => {
  it('is ready while it serves and everything works', async () => {
    const { server } = probed()
    expect((await server.inject({ url: '/readyz' })).json()).toEqual({ ok: true })
  })

  it.each(['starting', 'standby', 'stopping'] as const)('is not ready while %s', async (phase) => {
    const { server, state } = probed()
    state.phase = phase
    const answer = await server.inject({ url: '/readyz' })
    expect(answer.statusCode).toBe(503)
    expect(answer.json()).toMatchObject({ ok: false, error: `Not ready: ${phase}.`, code: 'unavailable' })
  })

  it('tells what does not work, and nothing about it', async () => {
    const { server, state } = probed()
    state.down = 'database'
    const answer = await server.inject({ url: '/readyz' })
    expect(answer.statusCode).toBe(503)
    expect(answer.json()).toEqual({
      ok: false,
      error: 'Not ready: database.',
      code: 'unavailable',
      request_id: answer.headers['x-request-id'],
    })
  })

  it('does not fill the log with errors', async () => {
    const { server, state, logLines } = probed()
    state.phase = 'stopping'
    for (const _ of [1, 2, 3]) await server.inject({ url: '/readyz' })
    expect(logLines().filter(({ level }) => level !== 'debug')).toEqual([])
  })
})

describe('/health', () => {
  it('tells the version, the time since the start, and each check', async () => {
    const { server, clock } = probed()
    await clock.advance(90_500)
    const answer = await server.inject({ url: '/health' })
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
      ok: true,
      version: '1.2.3',
      commit: 'c0ffee',
      uptime_seconds: 90,
      standby: false,
      degraded: false,
      checks: [
        { name: 'database', required: true, ok: true, latency_ms: 0 },
        { name: 'bus', required: true, ok: true, latency_ms: 0 },
        { name: 'redis', required: false, ok: true, latency_ms: 0 },
      ],
    })
  })

  it('says that it stands by, which is no fault', async () => {
    const { server, state } = probed()
    state.phase = 'standby'
    const answer = await server.inject({ url: '/health' })
    expect([answer.statusCode, answer.json()]).toMatchObject([200, { ok: true, standby: true }])
  })

  it.each(['starting', 'stopping'] as const)(
    'is not well while %s, and says so beside what does not work',
    async (phase) => {
      const { server, state, clock } = probed()
      state.phase = phase
      const answer = await server.inject({ url: '/health' })
      expect([answer.statusCode, answer.json()]).toMatchObject([503, { ok: false, error: `Not ready: ${phase}.` }])
      expect(answer.json().checks).toHaveLength(3)
      state.down = 'database'
      await clock.advance(1_000)
      expect((await server.inject({ url: '/health' })).json().error).toBe(`Not ready: ${phase}, database.`)
    },
  )

  it('fails when a check does, without address or secret', async () => {
    const { server, state, logText } = probed()
    state.down = 'bus'
    const answer = await server.inject({ url: '/health' })
    expect(answer.statusCode).toBe(503)
    expect(answer.json()).toMatchObject({ ok: false, code: 'unavailable', error: 'Not ready: bus.', version: '1.2.3' })
    expect(answer.json().checks).toContainEqual({ name: 'bus', required: true, ok: false, latency_ms: 0 })
    expect(answer.body).not.toMatch(/10\.1\.2\.3|swordfish/)
    expect(logText()).toContain('check failed')
    expect(logText()).not.toContain('swordfish')
  })
})

describe('something that the process works on without', () => {
  it('keeps it ready while it is away, and shows as degraded', async () => {
    const { server, state } = probed()
    state.down = 'redis'
    expect((await server.inject({ url: '/readyz' })).json()).toEqual({ ok: true })
    const health = await server.inject({ url: '/health' })
    expect(health.statusCode).toBe(200)
    expect(health.json()).toMatchObject({ ok: true, degraded: true })
    expect(health.json().checks).toContainEqual({ name: 'redis', required: false, ok: false, latency_ms: 0 })
  })
})

describe('/metrics', () => {
  it('is text that Prometheus reads', async () => {
    const { server } = probed()
    const answer = await server.inject({ url: '/metrics' })
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(answer.body).toMatch(/^# HELP process_cpu_seconds_total /m)
  })

  it('are written once a second, however many ask', async () => {
    const { server, clock, metrics } = probed()
    const ask = async () => (await server.inject({ url: '/metrics' })).body
    const [first, beside] = await Promise.all([ask(), ask()])
    metrics.observeRequest({ method: 'GET', route: '/livez', status: 200, durationMs: 1 })
    await clock.advance(999)
    expect([beside, await ask()]).toEqual([first, first])
    await clock.advance(1)
    expect(await ask()).toMatch(/^http_requests_total\{.*route="\/livez".*\} 1$/m)
  })
})
