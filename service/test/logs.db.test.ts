import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { Browser } from './harness/browser.ts'
import { TestClock } from './harness/clock.ts'
import { useDatabase } from './harness/database.ts'
import { LogClient } from './harness/log-client.ts'
import { someInstant } from './harness/matchers.ts'
import { passing } from './harness/passing.ts'
import { useRedis } from './harness/redis.ts'
import { ServedApp } from './harness/served-app.ts'
import { StreamClient } from './harness/stream-client.ts'
import { until } from './harness/wait.ts'

const test = useDatabase()
const PASSWORD = 'a long enough password'
const ADMIN = { 'x-admin-key': 'ak_key_of_the_served_app_tests' }

type Logs = { ok: true; count: number; logs: Record<string, unknown>[] }

const clock = new TestClock()
let served: ServedApp

beforeAll(async () => {
  const settings = { ADMIN_USERNAME: 'ada', ADMIN_PASSWORD: PASSWORD, LEGACY_QUERY_AUTH_ENABLED: 'true' }
  served = await ServedApp.start(test, { clock, settings })
})
afterAll(() => served.app.close())
beforeEach(async () => {
  await served.furnish('acme', { number: '+12025550140' })
  await served.furnish('globex', { number: '+12025550141' })
})

const bearer = (tenant: string, of = served) => ({ authorization: `Bearer ${of.tokenOf(tenant)}` })
const follow = (query = '', headers: Record<string, string> = bearer('acme')) =>
  LogClient.open(served.address, query, headers)

/** Makes a line of the tenant. */
async function doSomething(tenant: string, of = served): Promise<void> {
  expect((await of.call(tenant, 'GET', '/call-logs')).status).toBe(200)
}

async function seen(client: LogClient, count = 1): Promise<Record<string, unknown>[]> {
  return until(() => (client.said('request answered').length >= count ? client.said('request answered') : null), {
    what: 'the lines',
  })
}

async function recent(query: string, headers: Record<string, string>) {
  const response = await fetch(`${served.address}/api/v1/logs${query}`, { headers })
  return { status: response.status, body: (await response.json()) as Logs }
}

describe('WS /logs', () => {
  it('tells a tenant its own lines while they are written, and nobody else’s', async () => {
    const client = await follow()
    await doSomething('globex')
    await doSomething('acme')
    const [line] = await seen(client)
    expect(line).toMatchObject({ time: someInstant, level: 'debug', tenant_id: 'acme', route: '/api/v1/call-logs' })
    expect(line).toHaveProperty('request_id')
    expect(client.messages.map(({ tenant_id }) => tenant_id)).toEqual(client.messages.map(() => 'acme'))
  })

  it('tells the administrator all, or what one tenant has', async () => {
    const [all, one] = [await follow('', ADMIN), await follow('?tenant_id=globex', ADMIN)]
    await doSomething('acme')
    await doSomething('globex')
    expect((await seen(all, 2)).map(({ tenant_id }) => tenant_id)).toEqual(['acme', 'globex'])
    expect((await seen(one)).map(({ tenant_id }) => tenant_id)).toEqual(['globex'])
  })

  it('tells what was asked for', async () => {
    const clients = [await follow('?q=CALL-LOGS'), await follow('?level=error'), await follow('?call_sid=CA1')]
    const every = await follow()
    await doSomething('acme')
    await seen(every)
    await seen(clients[0] as LogClient)
    expect(clients.slice(1).map(({ messages }) => messages)).toEqual([[], []])
  })

  it('takes a credential in the query where it is allowed to, on both sockets', async () => {
    const client = await follow(`?auth_token=${served.tokenOf('acme')}`, {})
    await doSomething('acme')
    await seen(client)
    await expect(follow('?auth_token=wrong', {})).rejects.toThrow('401')
    const stream = (token: string) => StreamClient.open(served.address, `/media-stream?auth_token=${token}`)
    await expect(stream('wrong')).rejects.toThrow('401')
    // Whoever showed a credential may take more than the five seconds of those that have not.
    const opened = await stream(served.tokenOf('acme'))
    await clock.advance(7_000)
    expect(opened.closeCode).toBeNull()
    const transport = await served.administer('GET', '/auth/transport')
    expect(transport).toMatchObject({ auth_transport: { legacy_query_auth_enabled: true } })
    const { alerts } = await served.administer<{ alerts: { code: string }[] }>('GET', '/alerts/auth-transport')
    expect(alerts.map(({ code }) => code)).toContain('legacy_query_auth_enabled')
    expect(served.logLines().map((line) => JSON.stringify(line))).not.toContain(served.tokenOf('acme'))
  })

  it('takes the session of a page of ours', async () => {
    const browser = new Browser(served)
    await browser.login('ada', PASSWORD)
    const cookie = `parley_admin=${browser.cookie}`
    const client = await follow('', { cookie, origin: served.address })
    await doSomething('acme')
    await seen(client)
    await expect(follow('', { cookie, origin: 'https://evil.example' })).rejects.toThrow('403')
    await expect(follow('', { cookie })).rejects.toThrow('403')
  })

  it('is over with a session that is used for nothing else, after half an hour', async () => {
    const browser = new Browser(served)
    await browser.login('ada', PASSWORD)
    const client = await follow('', { cookie: `parley_admin=${browser.cookie}`, origin: served.address })
    for (let minutes = 0; minutes < 28; minutes += 4) {
      clock.skip(4 * 60_000 - 1_000)
      // The session is asked for, and behind that the database has time for what follows.
      await clock.advance(1_000)
      for (const _ of [1, 2]) await served.administer('GET', '/tenants')
    }
    expect(client.closeCode).toBeNull()
    clock.skip(2 * 60_000)
    await passing(clock, () => client.closeCode !== null, { what: 'the follower to be sent away' })
    expect(client.closeCode).toBe(4401)
  })

  it.each([
    ['no credential', '', {}, '401'],
    ['a wrong key', '', { authorization: 'Bearer pk_wrong' }, '401'],
    ['a wrong admin key', '', { 'x-admin-key': 'ak_wrong' }, '401'],
    ['an unknown level', '?level=loud', ADMIN, '400'],
    ['an unknown filter', '?color=red', ADMIN, '400'],
  ])('refuses %s', async (_what, query, headers, status) => {
    await expect(follow(query, headers)).rejects.toThrow(status)
  })

  it("refuses a tenant another one's lines", async () => {
    await expect(follow('?tenant_id=globex')).rejects.toThrow('400')
    await expect(follow('?tenant_id=acme')).resolves.toBeDefined()
  })

  it('answers 426 without an upgrade, credential or not', async () => {
    for (const headers of [{}, bearer('acme')]) {
      const response = await fetch(`${served.address}/logs`, { headers })
      expect([response.status, response.headers.get('upgrade')]).toEqual([426, 'websocket'])
    }
  })

  it('is counted while it is open', async () => {
    const count = async () => {
      const { tenants } = await served.administer<{ tenants: Record<string, unknown>[] }>('GET', '/tenants/cached')
      return tenants.find(({ tenant_id }) => tenant_id === 'acme')?.['log_subscribers']
    }
    const client = await follow()
    await follow('?tenant_id=acme', ADMIN)
    expect(await count()).toBe(1)
    client.close()
    await until(async () => (await count()) === 0, { what: 'the socket to be counted no more' })
  })

  it('ends for a reader whose key is revoked', async () => {
    const keys = '/tenants/acme/api-keys'
    const { created } = await served.administer<{ created: { token: string; api_key: { id: string } } }>('POST', keys, {
      label: 'reader',
    })
    const client = await follow('', { authorization: `Bearer ${created.token}` })
    await served.administer('DELETE', `${keys}/${created.api_key.id}`)
    await passing(clock, () => client.closeCode, { what: 'the socket to be closed' })
    expect(client.closeCode).toBe(4401)
  })

  it('holds no credential and no whole number', async () => {
    const client = await follow('', ADMIN)
    await served.call('acme', 'POST', '/dnc', { phone: '+12025550199' })
    await doSomething('acme')
    await seen(client)
    const text = JSON.stringify(client.messages)
    expect(text).not.toContain('+12025550199')
    expect(text).not.toContain(served.tokenOf('acme'))
  })
})

describe('GET /api/v1/logs', () => {
  it('lists the last lines of the tenant, newest first', async () => {
    await doSomething('globex')
    await doSomething('acme')
    await served.call('acme', 'GET', '/voice-sessions')
    const { status, body } = await recent('?limit=2', bearer('acme'))
    expect([status, body.ok, body.count]).toEqual([200, true, 2])
    expect(body.logs.map(({ route, tenant_id }) => [route, tenant_id])).toEqual([
      ['/api/v1/voice-sessions', 'acme'],
      ['/api/v1/call-logs', 'acme'],
    ])
  })

  it('lists what was asked for, to the administrator of all', async () => {
    await doSomething('acme')
    const all = await recent('?q=call-logs&limit=1', ADMIN)
    expect(all.body.logs).toMatchObject([{ tenant_id: 'acme', route: '/api/v1/call-logs' }])
    expect((await recent('?limit=0', ADMIN)).body).toEqual({ ok: true, count: 0, logs: [] })
    expect((await recent('?call_sid=CA-nobody', ADMIN)).body.count).toBe(0)
    const errors = (await recent('?level=warn', ADMIN)).body.logs
    expect(errors.filter(({ level }) => level === 'debug' || level === 'info')).toEqual([])
  })

  it.each([
    ['', {}, 401],
    ['', { authorization: 'Bearer pk_wrong' }, 401],
    ['?auth_token=x', ADMIN, 400],
    ['?limit=501', ADMIN, 400],
    ['?level=loud', ADMIN, 400],
  ])('refuses %j %j with %i', async (query, headers, status) => {
    expect((await recent(query, headers)).status).toBe(status)
  })

  it("is not another tenant's to read, and people of the tenant may", async () => {
    expect((await recent('?tenant_id=globex', bearer('acme'))).status).toBe(400)
    const person = { email: 'vi@acme.example', role: 'viewer', name: 'Vi', password: PASSWORD }
    await served.administer('POST', '/tenants/acme/users', person)
    const browser = new Browser(served)
    await browser.login('vi@acme.example', PASSWORD)
    await doSomething('globex')
    const { status, body } = await browser.call('GET', '/logs')
    expect(status).toBe(200)
    const tenants = (body['logs'] as { tenant_id: string }[]).map(({ tenant_id }) => tenant_id)
    expect([...new Set(tenants)]).toEqual(['acme'])
  })

  it('has no old address', async () => {
    expect((await fetch(`${served.address}/logs`, { headers: bearer('acme') })).status).toBe(426)
  })
})

describe('a service that stops', () => {
  it('says goodbye to who follows its log', async () => {
    const other = await ServedApp.start(test, {})
    const client = await LogClient.open(other.address, '', ADMIN)
    await other.app.close()
    await until(() => client.closeCode !== null, { what: 'the goodbye' })
    expect(client.closeCode).toBe(1001)
  })
})

/** The embedded database has one node. */
describe.runIf(inject('databaseTemplate').kind === 'server')('two nodes', () => {
  const redis = useRedis()

  it('tell the lines of each other', async () => {
    const settings = { REDIS_URL: redis.url }
    const a = await ServedApp.start(test, { settings, besides: served })
    const b = await ServedApp.start(test, { settings, besides: served, database: await test.anotherNode() })
    try {
      const client = await LogClient.open(a.address, '', bearer('acme', a))
      const cameOver = async () => {
        await doSomething('globex', b)
        await doSomething('acme', b)
        return client.said('request answered').length > 0
      }
      await until(cameOver, { what: 'a line of the other node', everyMs: 200 })
      expect([...new Set(client.messages.map(({ tenant_id }) => tenant_id))]).toEqual(['acme'])
      const lines = async () => {
        const response = await fetch(`${a.address}/api/v1/logs`, { headers: bearer('acme', a) })
        return ((await response.json()) as Logs).logs
      }
      await until(async () => (await lines()).some(({ route }) => route === '/api/v1/call-logs'), {
        what: 'the other node to be asked',
        everyMs: 200,
      })
    } finally {
      await Promise.all([a.app.close(), b.app.close()])
    }
  })
})
