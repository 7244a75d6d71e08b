import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { TestClock } from './harness/clock.ts'
import { useDatabase } from './harness/database.ts'
import { CLIENT, type Issuer, startIssuer } from './harness/issuer.ts'
import { ServedApp } from './harness/served-app.ts'

const test = useDatabase()
const START = '/api/v1/admin/auth/sso/start'
const CALLBACK = '/api/v1/admin/auth/sso/callback'

const clock = new TestClock()
let issuer: Issuer
/** Which service the browser goes to. */
let served: ServedApp

function settings(more: Record<string, string> = {}): Record<string, string> {
  return {
    ...{ OIDC_ISSUER_URL: issuer.url, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret },
    ...{ OIDC_ALLOWED_EMAILS: 'Ada@example.com, grace@example.com', ...more },
  }
}

beforeAll(async () => {
  issuer = await startIssuer(() => served.app.publicUrl() + CALLBACK, clock)
  served = await ServedApp.start(test, { clock, settings: settings() })
})
afterAll(async () => {
  await served.app.close()
  await issuer.close()
})
beforeEach(() => issuer.reset())

/** What becomes of it with a service that is set up in another way. */
async function elsewhere(set: Record<string, string>, work: () => Promise<void>): Promise<void> {
  const usual = served
  served = await ServedApp.start(test, { clock, settings: set })
  try {
    await work()
  } finally {
    await served.app.close()
    served = usual
  }
}

type Cookies = Record<string, string>
type Invited = { invitation_url: string }

/** As a browser goes from link to link: with its cookies, and a look at each answer. */
async function visit(url: string, cookies: Cookies = {}) {
  const cookie = Object.entries(cookies).map(([name, value]) => `${name}=${value}`)
  const response = await fetch(url, { redirect: 'manual', headers: { cookie: cookie.join('; ') } })
  const set = response.headers.getSetCookie()
  for (const each of set) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? []
    if (value === '') delete cookies[name]
    else cookies[name] = value
  }
  const text = await response.text()
  const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
  return {
    status: response.status,
    location: response.headers.get('location') ?? '',
    set,
    body,
    headers: response.headers,
  }
}

/** The service answers at its port, whatever it is called. */
const here = (url: string) => url.replace(served.app.publicUrl(), served.address)

/** To the provider and back to our door; `cookies` is what the browser has by then. */
async function toTheDoor(query = '') {
  const cookies: Cookies = {}
  const begun = await visit(`${served.address}${START}${query}`, cookies)
  expect(begun.status).toBe(302)
  const returned = await visit(begun.location)
  return { cookies, url: here(returned.location), begun }
}

async function login(query = '') {
  const { cookies, url } = await toTheDoor(query)
  return { cookies, answer: await visit(url, cookies) }
}

const session = (cookies: Cookies) => visit(`${served.address}/api/v1/admin/auth/session`, cookies)

describe('somebody who logs in at the identity provider', () => {
  it('is an administrator when their e-mail is one of theirs', async () => {
    expect((await session({})).body).toMatchObject({
      ...{ authenticated: false, login_enabled: false, sso_enabled: true },
      sso_authorize_url: `${served.app.publicUrl()}${START}`,
    })
    const { cookies, answer } = await login()
    expect([answer.status, answer.location]).toEqual([302, `${served.app.publicUrl()}/app/`])
    expect((await session(cookies)).body).toMatchObject({
      ...{ authenticated: true, username: 'ada@example.com', role: null, tenant_id: null },
    })
    expect((await visit(`${served.address}/api/v1/admin/tenants`, cookies)).status).toBe(200)
    const { entries } = await served.administer<{ entries: object[] }>('GET', '/audit-log?action=session.began')
    expect(entries).toMatchObject([{ actor: 'ada@example.com', actor_kind: 'administrator', tenant_id: null }])
  })

  it('is the person of a tenant who has their e-mail, with no more than their role', async () => {
    await served.administer('PUT', '/tenants/acme', { tenant_id: 'acme' })
    await served.administer('POST', '/tenants/acme/users', { email: 'alan@acme.example', role: 'viewer' })
    issuer.behaviour.person = { sub: 'alan', email: 'Alan@ACME.example', email_verified: 'true' }
    const { cookies } = await login()
    const { body } = await session(cookies)
    expect(body).toMatchObject({ username: 'alan@acme.example', role: 'viewer', tenant_id: 'acme' })
    expect((await visit(`${served.address}/api/v1/admin/tenants/acme/users`, cookies)).status).toBe(200)
    expect((await visit(`${served.address}/api/v1/admin/tenants`, cookies)).status).toBe(403)
  })

  it('is nobody by an e-mail that only looks like theirs in lower case', async () => {
    await served.administer('PUT', '/tenants/acme', { tenant_id: 'acme' })
    await served.administer('POST', '/tenants/acme/users', { email: 'kim@acme.example', role: 'admin' })
    // The Kelvin sign.
    issuer.behaviour.person = { sub: 'eve', email: '\u212aim@acme.example', email_verified: true }
    const { cookies, answer } = await login()
    expect([answer.status, answer.body['error'], cookies]).toEqual([403, expect.stringMatching(/outside ASCII/), {}])
  })

  it('is told in a page why they are not let in, and led to the login', async () => {
    issuer.behaviour.person = { sub: 'eve', email: 'eve@example.com', email_verified: true }
    const { cookies, url } = await toTheDoor()
    const cookie = Object.entries(cookies).map(([name, value]) => `${name}=${value}`)
    const headers = { cookie: cookie.join('; '), accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
    const answer = await fetch(url, { headers })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8'])
    const page = await answer.text()
    expect(page).toContain('<p>Nobody with your e-mail may log in here. Ask an administrator to add you.</p>')
    expect(page).toContain('<a href="/app/">To the login</a>')
    // What they have sent is text.
    const odd = await fetch(`${served.address}${START}?return_to=<b>`, { headers })
    expect([odd.status, (await odd.text()).includes('<b>')]).toEqual([400, false])
  })

  it('is asked for by their e-mail where the ID token has none', async () => {
    issuer.behaviour.tells = 'userinfo'
    expect((await login()).answer.status).toBe(302)
  })

  it('is asked for by it where the ID token does not say that it is verified, and is who they are there', async () => {
    Object.assign(issuer.behaviour, { tells: 'userinfo', lies: { email: 'grace@example.com' } })
    const { cookies } = await login()
    expect((await session(cookies)).body).toMatchObject({ username: 'ada@example.com' })
  })

  it.each([
    ['nobody here has', { sub: 'eve', email: 'eve@example.com', email_verified: true }],
    ['is not verified', { sub: 'ada', email: 'ada@example.com', email_verified: false }],
    ['nobody says is verified', { sub: 'ada', email: 'ada@example.com' }],
    ['is not told', { sub: 'ada' }],
  ])('is refused with an e-mail that %s', async (_what, person) => {
    issuer.behaviour.person = person
    const { cookies, answer } = await login()
    expect([answer.status, answer.body['code'], cookies]).toEqual([403, 'forbidden', {}])
    const { entries } = await served.administer<{ entries: object[] }>('GET', '/audit-log?action=session.refused')
    expect(entries).toMatchObject([{ actor: '127.0.0.1', actor_kind: 'stranger', after: null }])
  })

  it('is refused when the provider refuses them', async () => {
    issuer.behaviour.denies = true
    const { answer } = await login()
    expect([answer.status, answer.body['error']]).toEqual([401, expect.stringContaining('Begin again.')])
  })

  it('is nobody any more once other people administer', async () => {
    const { cookies } = await login()
    await elsewhere(settings({ OIDC_ALLOWED_EMAILS: 'grace@example.com' }), async () => {
      expect((await session(cookies)).body).toMatchObject({ authenticated: false })
    })
  })
})

describe('a login', () => {
  it('is kept by its browser in a cookie that nothing else reads', async () => {
    const { begun } = await toTheDoor()
    expect(begun.set).toEqual([
      expect.stringMatching(
        /^parley_sso=sealed:v1:[^;]+; Path=\/api\/v1\/admin\/auth\/sso; Max-Age=600; HttpOnly; SameSite=Lax$/,
      ),
    ])
    const { searchParams } = new URL(begun.location)
    for (const name of ['state', 'nonce', 'code_challenge']) {
      const value = searchParams.get(name) ?? ''
      expect([value.length, begun.set.join().includes(value)]).toEqual([43, false])
    }
  })

  it('ends only in the browser in which it began', async () => {
    const [mine, other] = [await toTheDoor(), await toTheDoor()]
    for (const cookies of [{}, other.cookies, { parley_sso: 'sealed:v1:AAAA' }]) {
      const answer = await visit(mine.url, { ...cookies })
      expect([answer.status, answer.body['code']]).toEqual([401, 'unauthorized'])
    }
    const stateless = mine.url.replace(/state=[^&]*/, 'state=x')
    expect((await visit(stateless, { ...mine.cookies })).status).toBe(401)
    expect((await visit(`${served.address}${CALLBACK}`, { ...mine.cookies })).status).toBe(401)
    expect((await visit(mine.url, mine.cookies)).status).toBe(302)
  })

  it('goes by the clock of the installation, and not by that of the machine, also when that is set', async () => {
    for (const aheadMs of [0, 3_600_000, -3_600_000]) {
      vi.useFakeTimers({ toFake: ['Date'], now: clock.now() + aheadMs })
      try {
        expect([aheadMs, (await login()).answer.status]).toEqual([aheadMs, 302])
      } finally {
        vi.useRealTimers()
      }
    }
  })

  it('ends within ten minutes', async () => {
    const { url, cookies } = await toTheDoor()
    await clock.advance(600_000)
    expect((await visit(url, cookies)).status).toBe(401)
  })

  it('is good once', async () => {
    const { url, cookies } = await toTheDoor()
    const kept = { ...cookies }
    expect((await visit(url, cookies)).status).toBe(302)
    const again = await visit(url, kept)
    expect([again.status, again.body['code'], 'parley_admin' in kept]).toEqual([401, 'unauthorized', false])
  })

  it.each([
    ['a nonce of another login', { lies: { nonce: 'another' } }],
    ['another audience', { lies: { aud: 'another-client' } }],
    ['another issuer', { lies: { iss: 'https://evil.example' } }],
    ['an end that is past', { lies: { exp: 1 } }],
    ['a signature of nobody', { usesForeignKey: true }],
  ])('is not taken with %s', async (_what, behaviour) => {
    Object.assign(issuer.behaviour, behaviour)
    const { cookies, answer } = await login()
    expect([answer.status, answer.body['code'], cookies]).toEqual([502, 'sso_failed', {}])
  })

  it.each([
    ['no code', (url: URL) => url.searchParams.delete('code')],
    ['the name of another issuer', (url: URL) => url.searchParams.set('iss', 'https://evil.example')],
    ['what no provider sends', (url: URL) => url.searchParams.set('id_token', 'x')],
    ['a refusal in words of its own', (url: URL) => url.searchParams.set('error', 'see <b>here</b>'.repeat(99))],
  ])('is nobody with %s, whoever made that up, and the provider is not at fault', async (_what, forge) => {
    const { url, cookies } = await toTheDoor()
    const forged = new URL(url)
    forge(forged)
    const answer = await visit(forged.href, cookies)
    expect([answer.status, answer.body['code']]).toEqual([401, 'unauthorized'])
    expect(JSON.stringify(served.logLines())).not.toContain('see <b>')
  })

  it('may fail ten times within 15 minutes', async () => {
    const { url, cookies } = await toTheDoor()
    const forged = `${url}&error=access_denied`
    const statuses: number[] = []
    for (let n = 0; n < 11; n += 1) statuses.push((await visit(forged, { ...cookies })).status)
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429])
    await clock.advance(900_000)
    expect((await login()).answer.status).toBe(302)
  })

  it('says so when the provider is away, and works when it is back', () =>
    elsewhere(settings(), async () => {
      issuer.behaviour.isBroken = true
      const answer = await visit(`${served.address}${START}`)
      expect([answer.status, answer.body['code'], answer.set]).toEqual([502, 'sso_failed', []])
      issuer.reset()
      const { url, cookies } = await toTheDoor()
      issuer.behaviour.isBroken = true
      expect((await visit(url, { ...cookies })).status).toBe(502)
      issuer.reset()
      expect((await login()).answer.status).toBe(302)
    }))

  it('says so when nobody is at the address of the provider', () =>
    elsewhere(settings({ OIDC_ISSUER_URL: 'http://127.0.0.1:9' }), async () => {
      expect((await visit(`${served.address}${START}`)).status).toBe(502)
    }))

  it('ends at a page of the dashboard, and nowhere else', async () => {
    const { answer } = await login('?return_to=/app/calls/CA1')
    expect(answer.location).toBe(`${served.app.publicUrl()}/app/calls/CA1`)
    const others = [
      ...['https://evil.example', '//evil.example', '/\\evil.example', '/app//evil.example', '/app/../../evil'],
      ...['/app/%2e%2e/x', '/app@evil.example', '/api/v1/admin/auth/logout', '/app/\r\nset-cookie: a=b', ''],
    ]
    for (const path of others) {
      const refused = await visit(`${served.address}${START}?return_to=${encodeURIComponent(path)}`)
      expect([path, refused.status, refused.set]).toEqual([path, 400, []])
    }
    const { url, cookies } = await toTheDoor()
    const bent = await visit(`${url}&return_to=https://evil.example&redirect_uri=https://evil.example`, cookies)
    expect(bent.location).toBe(`${served.app.publicUrl()}/app/`)
  })

  it('leaves neither code nor secret in the log', async () => {
    const { url, cookies } = await toTheDoor()
    await visit(url, { ...cookies })
    await visit(url, cookies)
    const told = JSON.stringify(served.logLines())
    expect(told).toContain('a login at the identity provider failed')
    const code = new URL(url).searchParams.get('code') ?? ''
    for (const secret of [code, CLIENT.secret, cookies['parley_sso'] ?? code]) expect(told).not.toContain(secret)
  })
})

describe('single sign-on', () => {
  it('is not there unless it is set up', () =>
    elsewhere({}, async () => {
      for (const path of [START, CALLBACK]) expect((await visit(served.address + path)).status).toBe(404)
      expect((await session({})).body).toMatchObject({ sso_enabled: false, sso_authorize_url: null })
    }))

  it('is the only way in where there are no passwords, also for whoever has an invitation', async () => {
    await served.administer('PUT', '/tenants/acme', { tenant_id: 'acme' })
    const person = { email: 'ann@acme.example', role: 'viewer' }
    const { invitation_url: link } = await served.administer<Invited>('POST', '/tenants/acme/users', person)
    const accepted = await fetch(`${served.address}/api/v1/admin/auth/invitation`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: served.address },
      body: JSON.stringify({ token: link.split('#token=')[1], password: 'a long enough password' }),
    })
    expect([accepted.status, accepted.headers.get('set-cookie')]).toEqual([404, null])
    expect(await accepted.json()).toMatchObject({ error: 'Nobody can log in with a password here.' })
  })

  it('keeps its cookies to https where browsers come by https, and sends them back there', () =>
    elsewhere(settings({ PUBLIC_URL: 'https://voice.example.com' }), async () => {
      const { url, cookies, begun } = await toTheDoor()
      const { location, set } = await visit(url, cookies)
      expect([...begun.set, ...set].every((each) => each.endsWith('; Secure'))).toBe(true)
      expect(location).toBe('https://voice.example.com/app/')
    }))

  it('counts against the address of whoever is nobody yet', () =>
    elsewhere(settings({ RATE_LIMIT_IP_PER_MINUTE: '1' }), async () => {
      const statuses = [await visit(served.address + START), await visit(served.address + START)]
      expect(statuses.map(({ status }) => status)).toEqual([302, 429])
    }))
})
