import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Browser } from './harness/browser.ts'
import { TestClock } from './harness/clock.ts'
import { useDatabase } from './harness/database.ts'
import { ServedApp } from './harness/served-app.ts'

const test = useDatabase()
const PASSWORD = 'a long enough password'
const SETTINGS = { ADMIN_USERNAME: 'ada', ADMIN_PASSWORD: PASSWORD }
const MINUTE_MS = 60_000

const clock = new TestClock()
let served: ServedApp
let browser: Browser

beforeAll(async () => {
  served = await ServedApp.start(test, { clock, settings: SETTINGS })
})
afterAll(() => served.app.close())
beforeEach(() => {
  browser = new Browser(served)
})

const session = async () => (await browser.call('GET', '/admin/auth/session')).body
const tenants = async () => (await browser.call('GET', '/admin/tenants')).status

describe('a login', () => {
  it('opens the admin surface to the browser', async () => {
    expect(await tenants()).toBe(401)
    const { status, body, headers } = await browser.login('ada', PASSWORD)
    expect({ status, body }).toEqual({ status: 200, body: { ok: true, username: 'ada' } })
    expect(headers.get('set-cookie')).toMatch(
      /^parley_admin=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/,
    )
    expect(await tenants()).toBe(200)
    expect(await session()).toEqual({
      ...{ ok: true, authenticated: true, login_enabled: true, username: 'ada' },
      ...{ user_id: null, role: null, tenant_id: null },
      ...{ sso_enabled: false, sso_authorize_url: null, simulated: { carrier: false, model: false }, standby: false },
    })
  })

  it.each([
    ['a wrong password', 'ada', 'another long password'],
    ['an unknown name', 'bob', PASSWORD],
    ['the name in another case', 'Ada', PASSWORD],
  ])('is refused with %s, and does not say why', async (_what, username, password) => {
    const { status, body, headers } = await browser.login(username, password)
    expect({ status, body }).toMatchObject({ status: 401, body: { error: 'The user name or the password is wrong.' } })
    expect(headers.get('set-cookie')).toBeNull()
  })

  it.each([
    [{ username: 'ada' }, '/body/password'],
    [{ username: 'ada', password: PASSWORD, remember: true }, '/body/remember'],
    [{ username: '', password: PASSWORD }, '/body/username'],
  ])('of %j is refused with 400', async (body, path) => {
    const answer = await browser.call('POST', '/admin/auth/login', { body })
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path }] } })
  })

  it('from a page of another origin is refused', async () => {
    const body = { username: 'ada', password: PASSWORD }
    const answer = await browser.call('POST', '/admin/auth/login', { body, origin: 'https://evil.example' })
    expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } })
  })

  it('is refused after ten failures from the address, also when right, until a quarter of an hour has passed', async () => {
    for (let n = 0; n < 10; n += 1) expect((await browser.login('ada', `wrong ${n}`)).status).toBe(401)
    const refused = await browser.login('ada', PASSWORD)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '900'])
    // The key is not locked out by that.
    await served.administer('GET', '/tenants')
    clock.skip(15 * MINUTE_MS)
    expect((await browser.login('ada', PASSWORD)).status).toBe(200)
  })

  it('lets no more than ten of many at once be looked at', async () => {
    const answers = await Promise.all(Array.from({ length: 14 }, (_, n) => browser.login('ada', `wrong ${n}`)))
    expect(answers.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(10)
    expect(answers.some(({ status }) => status === 429)).toBe(true)
    clock.skip(15 * MINUTE_MS)
  })

  it('gives a new session, and ends the one that the browser had', async () => {
    await browser.login('ada', PASSWORD)
    const first = browser.cookie
    await browser.login('ada', PASSWORD)
    expect(browser.cookie).not.toBe(first)
    browser.cookie = first
    expect(await tenants()).toBe(401)
  })
})

describe('a session', () => {
  beforeEach(async () => {
    await browser.login('ada', PASSWORD)
  })

  it('is over at logout, wherever the cookie still is', async () => {
    const { cookie } = browser
    const answer = await browser.call('POST', '/admin/auth/logout')
    expect(answer).toMatchObject({ status: 200, body: { ok: true, authenticated: false, login_enabled: true } })
    expect(browser.cookie).toBeNull()
    browser.cookie = cookie
    expect([await tenants(), (await session())['authenticated']]).toEqual([401, false])
  })

  it('is over after half an hour without use', async () => {
    clock.skip(29 * MINUTE_MS)
    expect(await tenants()).toBe(200)
    clock.skip(29 * MINUTE_MS)
    expect(await tenants()).toBe(200)
    clock.skip(30 * MINUTE_MS)
    expect(await tenants()).toBe(401)
  })

  it('is over after twelve hours of use', async () => {
    for (let n = 0; n < 24; n += 1) {
      clock.skip(29 * MINUTE_MS)
      expect(await tenants()).toBe(200)
    }
    clock.skip(29 * MINUTE_MS)
    expect(await tenants()).toBe(401)
  })

  it.each([
    ['another origin', 'https://evil.example'],
    ['another port of this machine', 'http://127.0.0.1:1'],
    ['nowhere', 'null'],
    ['whoever does not say', null],
  ])('changes nothing for a page of %s', async (_what, origin) => {
    const answer = await browser.call('PUT', '/admin/tenants/acme', { body: { tenant_id: 'acme' }, origin })
    expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    expect((await browser.call('POST', '/admin/auth/logout', { origin })).status).toBe(403)
    expect(await tenants()).toBe(200)
  })

  it('changes what its own pages ask for', async () => {
    const answer = await browser.call('PUT', '/admin/tenants/acme', { body: { tenant_id: 'acme' } })
    expect(answer.status).toBe(200)
  })

  it('is no key of a tenant', async () => {
    expect((await browser.call('GET', '/call-logs')).status).toBe(403)
  })

  it('counts for nothing beside a wrong key', async () => {
    const answer = await browser.call('GET', '/admin/tenants', { headers: { 'x-admin-key': 'wrong' } })
    expect(answer.status).toBe(401)
  })
})

describe('auth/session', () => {
  it('tells whoever asks that nobody is logged in', async () => {
    expect(await session()).toMatchObject({ ok: true, authenticated: false, username: null })
  })

  it('knows the holder of the key', async () => {
    const nobodyOfATenant = { authenticated: true, username: null, user_id: null, tenant_id: null }
    expect(await served.administer('GET', '/auth/session')).toMatchObject(nobodyOfATenant)
  })
})

describe('how credentials travel', () => {
  it('is told to administrators alone', async () => {
    expect((await browser.call('GET', '/admin/auth/transport')).status).toBe(401)
    expect((await browser.call('GET', '/admin/alerts/auth-transport')).status).toBe(401)
    expect(await served.administer('GET', '/auth/transport')).toEqual({
      ok: true,
      auth_transport: {
        ...{ legacy_query_auth_enabled: false, stream_auth_previous_configured: false },
        ...{ stream_auth_primary_configured: false, stream_auth_secret_count: 1 },
      },
    })
    const alerts = await served.administer<{ alerts: { code: string }[] }>('GET', '/alerts/auth-transport')
    expect(alerts).toMatchObject({
      ok: true,
      count: 2,
      status: 'critical',
      diagnostics: { stream_auth_secret_count: 1 },
    })
    expect(alerts.alerts.map(({ code }) => code)).toEqual(['stream_auth_primary_missing', 'legacy_bearer_auth_enabled'])
  })
})

describe('other settings', () => {
  async function withSettings(settings: Record<string, string>, work: (other: ServedApp) => Promise<void>) {
    const other = await ServedApp.start(test, { clock, settings })
    try {
      await work(other)
    } finally {
      await other.app.close()
    }
  }

  it('take a SHA-256 in place of the password, behind https a cookie for https alone', async () => {
    const hash = createHash('sha256').update(PASSWORD).digest('hex')
    const settings = { ADMIN_USERNAME: 'ada', ADMIN_PASSWORD_SHA256: hash, PUBLIC_URL: 'https://voice.example' }
    await withSettings(settings, async (other) => {
      const there = new Browser(other)
      const ours = { origin: 'https://voice.example' }
      const login = (password: string) =>
        there.call('POST', '/admin/auth/login', { body: { username: 'ada', password }, ...ours })
      const { status, headers } = await login(PASSWORD)
      expect([status, headers.get('set-cookie')]).toEqual([200, expect.stringMatching(/SameSite=Lax; Secure$/)])
      expect((await login(hash)).status).toBe(401)
      const body = { tenant_id: 'acme' }
      expect((await there.call('PUT', '/admin/tenants/acme', { body, ...ours })).status).toBe(200)
      // Whatever other name leads here: there is one that people were given.
      expect((await there.call('PUT', '/admin/tenants/acme', { body })).status).toBe(403)
    })
  })

  it('keep an address to its limit before anything is looked at, and nobody who is logged in', async () => {
    await withSettings({ ...SETTINGS, RATE_LIMIT_IP_PER_MINUTE: '3' }, async (other) => {
      const [there, stranger] = [new Browser(other), new Browser(other)]
      expect((await there.login('ada', PASSWORD)).status).toBe(200)
      for (let n = 0; n < 5; n += 1) expect((await there.call('GET', '/admin/auth/session')).status).toBe(200)
      for (let n = 0; n < 2; n += 1) expect((await stranger.call('GET', '/admin/auth/session')).status).toBe(200)
      const accept = { body: { token: 'guessed', password: PASSWORD } }
      expect((await stranger.call('POST', '/admin/auth/invitation', accept)).status).toBe(429)
      expect((await stranger.login('ada', PASSWORD)).status).toBe(429)
      expect((await there.call('GET', '/admin/tenants')).status).toBe(200)
    })
  })

  it('end the sessions that another password began', async () => {
    await browser.login('ada', PASSWORD)
    await withSettings({ ...SETTINGS, ADMIN_PASSWORD: 'a changed password' }, async (other) => {
      const there = new Browser(other)
      there.cookie = browser.cookie
      expect((await there.call('GET', '/admin/tenants')).status).toBe(401)
    })
  })

  it('without a name have no login, and without a key either no admin surface', async () => {
    await withSettings({ ADMIN_USERNAME: '', ADMIN_PASSWORD: '' }, async (other) => {
      const there = new Browser(other)
      expect((await there.login('ada', PASSWORD)).status).toBe(404)
      expect((await there.call('GET', '/admin/auth/session')).body).toMatchObject({ login_enabled: false })
    })
    await withSettings({ ADMIN_API_KEY: '' }, async (other) => {
      const there = new Browser(other)
      for (const path of ['/admin/auth/session', '/admin/tenants', '/admin/nothing'])
        expect((await there.call('GET', path)).status).toBe(404)
      expect((await there.login('ada', PASSWORD)).status).toBe(404)
    })
  })
})
