import { existsSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listener } from '../../simulator/src/carrier/caller-script.ts'
import type { SimulatedCall } from '../../simulator/src/carrier/simulated-call.ts'
import { runScenario } from '../../simulator/src/scenario/run-scenario.ts'
import type { Scenario } from '../../simulator/src/scenario/scenario-shape.ts'
import { type Simulator, startSimulator } from '../../simulator/src/simulator.ts'
import { type App, buildApp } from '../src/app.ts'
import { ConfigError, readConfig } from '../src/config.ts'
import { makeDeps } from '../src/deps.ts'
import { needsNoDatabase } from '../src/offline-routes.ts'
import { registeredRoutes } from '../src/platform/http/registered-routes.ts'
import { makeLog } from '../src/platform/log.ts'
import { LogClient } from './harness/log-client.ts'
import { ACCOUNT, calmed } from './harness/served-app.ts'
import { until } from './harness/wait.ts'

const NUMBER = '+12025550140'
const CALLEE = '+12025550123'
const ADMIN_KEY = 'ak_key_of_the_tests_without_database'
const TOKEN = 'the-legacy-token-of-acme'
const START_MS = 60_000

const ACME = {
  tenant_id: 'acme',
  auth_token: TOKEN,
  telephony: { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token, from_number: NUMBER },
  agent: { agent_name: 'Robin', greeting: 'Hello, this is Robin.' },
}
const SETTINGS = { DATABASE_URL: 'none', PORT: '0', ADMIN_API_KEY: ADMIN_KEY, OPENAI_API_KEY: 'sk-key-of-the-tests' }

type Body = Record<string, unknown>
type Sent = { tenant?: boolean; body?: unknown; headers?: Record<string, string> }

let folder: string
let simulator: Simulator
let app: App
let address: string

async function start(documents: string, settings: Record<string, string> = {}): Promise<App> {
  const file = join(folder, 'tenants.json')
  await writeFile(file, documents)
  const dataDir = join(folder, 'data')
  const config = readConfig({ ...SETTINGS, TENANTS_FILE: file, DATA_DIR: dataDir, ...settings })
  const log = makeLog({ level: 'debug', secrets: [], destination: { write() {} } })
  const deps = await makeDeps(config, log, { version: '0', pid: 1 })
  return buildApp({ ...deps, metrics: calmed(deps.metrics) })
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'no-database-'))
  simulator = await startSimulator({
    carrier: { host: '127.0.0.1', port: 0, accountSid: ACCOUNT.sid, authToken: ACCOUNT.token },
    model: { host: '127.0.0.1', port: 0 },
  })
  const { carrier, model } = simulator
  // Its voice takes seconds to its first words on a busy machine, of which a call waits two for a provider.
  await simulator.speech.say('Hello.')
  app = await start(JSON.stringify([ACME]), {
    ...{ TELEPHONY_API_BASE_URL: carrier.baseUrl, OPENAI_REALTIME_URL: model.url },
    ...{ RATE_LIMIT_IP_PER_MINUTE: '100000', RATE_LIMIT_TENANT_PER_MINUTE: '100000' },
  })
  address = await app.listen()
}, START_MS)
afterAll(async () => {
  await app.close()
  await simulator.close()
})

async function call(method: string, path: string, { tenant = true, body, headers = {} }: Sent = {}) {
  const who = tenant ? { authorization: `Bearer ${TOKEN}` } : { 'x-admin-key': ADMIN_KEY }
  const response = await fetch(address + path, {
    method,
    headers: { ...who, ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '') && text !== ''
  return { status: response.status, headers: response.headers, body: (isJson ? JSON.parse(text) : { text }) as Body }
}

const administer = (method: string, path: string, sent: Omit<Sent, 'tenant'> = {}) =>
  call(method, `/api/v1/admin${path}`, { ...sent, tenant: false })

const SCENARIO: Scenario = {
  name: 'a caller rings where there is no database',
  call: { from: CALLEE, to: NUMBER },
  caller: { steps: [{ say: 'What does a chair cost?' }, { say: 'Thank you. Goodbye.' }], stays: true },
  agent: {
    rules: [
      { when: { greeting: true }, say: 'Hello, this is Robin.' },
      { when: { turn: 1 }, say: 'It costs ten dollars.' },
      { when: { says: 'goodbye' }, say: 'Goodbye.', end: true },
    ],
  },
  expect: {
    ...{ status: 'completed', ended_by: 'rest', heard: ['Hello, this is Robin', 'ten dollars', 'Goodbye'] },
    ...{ understood: ['chair'], clicks: 0, model_sessions: 1, tools: [{ name: 'end_call' }] },
  },
}

describe('without a database', () => {
  it('a call that comes in is answered by the agent of the document of its number, and ends', async () => {
    const publicUrl = app.publicUrl()
    const urls = { voiceUrl: `${publicUrl}/incoming-call`, statusCallback: `${publicUrl}/api/v1/call-status` }
    const report = await runScenario(simulator, SCENARIO, urls)
    expect(report.findings.filter(({ state }) => state === 'failed')).toEqual([])
    const active = async () => (await call('GET', '/api/v1/sessions/active')).body['count']
    await until(async () => (await active()) === 0, { what: 'the session to be over' })
  })

  it('a call is placed from the number of the document, watched, acted on, and ends', async () => {
    const calls: SimulatedCall[] = []
    simulator.carrier.watch((each) => calls.push(each))
    simulator.carrier.subscribe(CALLEE, listener('Hello?'))
    const placed = await call('POST', '/api/v1/make-call', { body: { to: CALLEE } })
    expect(placed).toMatchObject({ status: 200, body: { ok: true, status: 'queued', to: CALLEE, from: NUMBER } })
    const sid = placed.body['call_sid']
    const there = await until(() => calls.find((each) => each.sid === sid), { what: 'the call' })
    await there.until(({ kind }) => kind === 'agent-ended', 30_000)
    const { body } = await call('GET', '/sessions/active')
    const [session] = body['sessions'] as { stream_sid: string; agent_name: string }[]
    expect(session).toMatchObject({ agent_name: 'Robin', call_type: 'outbound' })
    expect((await administer('GET', '/sessions')).body).toMatchObject({ count: 1 })
    const path = `/api/v1/sessions/${session?.stream_sid}`
    expect((await call('GET', path)).status).toBe(200)
    const acted = await call('POST', `${path}/actions`, { body: { action: 'end_call', supervisor: 'Ada' } })
    expect(acted.status).toBe(200)
    await until(async () => (await call('GET', path)).status === 404, {
      what: 'the end of the call',
    })
  })

  it('a page can call, by whatever key, and lines of the log are read and followed', async () => {
    const client = await LogClient.open(address, '', { authorization: `Bearer ${TOKEN}` })
    const made = await call('POST', '/api/v1/browser-calls', { body: { agent_key: 'desk' } })
    expect(made.body).toMatchObject({ ok: true, stream_url: expect.stringContaining('/media-stream') })
    await until(() => client.said('request answered').length > 0, { what: 'a line' })
    const { body } = await call('GET', '/api/v1/logs?limit=1')
    expect(body).toMatchObject({ count: 1, logs: [{ tenant_id: 'acme' }] })
  })

  it('tenants are written, read and deleted as with one, until the process ends', async () => {
    const document = { tenant_id: 'globex', auth_token: 'the-legacy-token-of-globex' }
    const put = (headers: Record<string, string>, body: Body = document) =>
      administer('PUT', '/tenants/globex', { body, headers })
    const { status, headers } = await put({ 'if-none-match': '*' })
    const etag = headers.get('etag') ?? ''
    expect([status, etag]).toEqual([200, expect.stringMatching(/^"/)])
    expect((await put({ 'if-none-match': '*' })).status).toBe(412)
    expect((await put({ 'if-match': '"other"' })).status).toBe(412)
    expect((await put({ 'if-match': etag }, { ...document, name: 'Globex' })).status).toBe(200)
    const taken = { tenant_id: 'initech', auth_token: TOKEN }
    expect((await administer('PUT', '/tenants/initech', { body: taken })).status).toBe(409)
    const read = await administer('GET', '/tenants/globex')
    expect(read.body).toMatchObject({ config: { name: 'Globex', auth_token: '***' } })
    expect((await administer('GET', '/tenants')).body).toMatchObject({ count: 2 })
    const runtime = await administer('PUT', '/tenants/globex/runtime-config', { body: { voice: 'cedar' } })
    expect(runtime.body).toMatchObject({ ok: true, runtime_config: { voice: 'cedar' } })
    expect((await administer('POST', '/tenants/validate', { body: document })).body).toMatchObject({ ok: true })
    expect((await administer('DELETE', '/tenants/globex')).status).toBe(200)
    expect((await administer('GET', '/tenants/globex')).status).toBe(404)
  })

  it.each([
    '/tenants/cached',
    '/tenants/cache-metrics',
    '/tenants/cache-metrics/by-token',
    '/tenants/audio-providers?include_uncached=true',
    '/auth/transport',
    '/alerts/auth-transport',
    '/auth/session',
  ])('diagnostics are told: %s', async (path) => {
    expect((await administer('GET', path)).status).toBe(200)
  })

  it('says that tenants which are not cached cannot be looked through', async () => {
    const { body } = await administer('GET', '/tenants/audio-providers?include_uncached=true')
    expect(body).toMatchObject({
      include_uncached_requested: true,
      uncached_scan_supported: false,
      uncached_tenants: 0,
    })
  })

  it('everything else is refused with a sentence that says what to set, at its old address too', async () => {
    const routes = registeredRoutes(app.server).filter(({ method, url }) => !needsNoDatabase(method, url))
    expect(routes.length).toBeGreaterThan(100)
    for (const { method, url } of routes) {
      const path = url.replace(/:[a-z_]+/g, (name) => (name === ':tenant_id' ? 'acme' : 'x'))
      const isAdmin = url.startsWith('/api/v1/admin/')
      const answer = await call(method, path, { tenant: !isAdmin, ...(method === 'POST' && { body: {} }) })
      expect([method, url, answer.status]).toEqual([method, url, 503])
      if (method === 'HEAD') continue
      expect(answer.body).toMatchObject({ ok: false, code: 'database_not_configured' })
      expect(answer.body['error']).toContain('DATABASE_URL')
    }
  })

  it('nobody is told so who may not ask, nor of an address that is none', async () => {
    expect((await fetch(`${address}/api/v1/call-logs`)).status).toBe(401)
    expect((await fetch(`${address}/api/v1/admin/audit-log`)).status).toBe(401)
    expect((await call('GET', '/api/v1/nothing')).status).toBe(404)
  })

  it('nothing is written to the disk', () => {
    expect(existsSync(join(folder, 'data'))).toBe(false)
  })
})

describe('a file of tenants that cannot be used', () => {
  it('stops the start, with a line that names the variable', { timeout: START_MS }, async () => {
    const started = start('{}').catch((error: unknown) => error)
    const fault = await started
    expect(fault).toBeInstanceOf(ConfigError)
    expect(String(fault)).toContain('TENANTS_FILE must hold a JSON array')
  })
})
