import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { registeredRoutes } from '../src/platform/http/registered-routes.ts'
import { mayDo, ROLE_TABLE, routeKey } from '../src/role-table.ts'
import { Browser } from './harness/browser.ts'
import { TestClock } from './harness/clock.ts'
import { useDatabase } from './harness/database.ts'
import { someInstant, someText, someUuid } from './harness/matchers.ts'
import { ServedApp } from './harness/served-app.ts'

const test = useDatabase()
const PASSWORD = 'a long enough password'
const UNKNOWN_ID = '0190a000-0000-7000-8000-000000000000'

const clock = new TestClock()
let served: ServedApp

beforeAll(async () => {
  served = await ServedApp.start(test, { clock, settings: { ADMIN_USERNAME: 'ada', ADMIN_PASSWORD: PASSWORD } })
})
afterAll(() => served.app.close())
beforeEach(async () => {
  await served.administer('PUT', '/tenants/acme', { tenant_id: 'acme' })
  await served.administer('PUT', '/tenants/globex', { tenant_id: 'globex' })
})

type Written = { user: { id: string }; invitation_url?: string }
const USERS = '/admin/tenants/acme/users'

function add(email: string, role: string, tenant = 'acme'): Promise<Written> {
  return served.administer('POST', `/tenants/${tenant}/users`, { email, role, name: 'Grace', password: PASSWORD })
}

async function loggedIn(email: string): Promise<Browser> {
  const browser = new Browser(served)
  expect((await browser.login(email, PASSWORD)).status).toBe(200)
  return browser
}

async function person(role: string): Promise<Browser> {
  await add(`${role}@acme.example`, role)
  return loggedIn(`${role}@acme.example`)
}

/** The administrator, in a browser. */
const administrator = () => loggedIn('ada')
const secretOf = ({ invitation_url = '' }: Written) => invitation_url.split('#token=')[1] ?? ''

describe('the people of a tenant', () => {
  it('are added, shown without their password, and log in at the same place', async () => {
    const written = await add('Grace@Acme.example', 'operator')
    expect(written).toEqual({
      ok: true,
      user: {
        ...{ id: someUuid, tenant_id: 'acme', email: 'grace@acme.example', name: 'Grace', role: 'operator' },
        ...{ status: 'active', last_login_at: null, created_at: someInstant, updated_at: someInstant },
      },
    })
    const browser = await loggedIn('grace@ACME.example')
    expect((await browser.call('GET', '/admin/auth/session')).body).toMatchObject({
      ...{ authenticated: true, username: 'grace@acme.example', role: 'operator', tenant_id: 'acme' },
      user_id: written.user.id,
    })
    const list = await browser.call('GET', USERS)
    expect(list.body).toMatchObject({ count: 1, users: [{ last_login_at: someInstant }], next_cursor: null })
    expect(JSON.stringify(list.body)).not.toContain('argon2')
  })

  it('are invited by a link that is good once', async () => {
    const body = { email: 'grace@acme.example', role: 'admin' }
    const written = await served.administer<Written>('POST', '/tenants/acme/users', body)
    expect(written).toMatchObject({ user: { status: 'invited' }, invitation_url: someText(/#token=[\w-]{43}$/) })
    const browser = new Browser(served)
    expect((await browser.login('grace@acme.example', PASSWORD)).status).toBe(401)
    const accept = { body: { token: secretOf(written), password: PASSWORD } }
    const short = { body: { token: secretOf(written), password: 'short' } }
    expect((await browser.call('POST', '/admin/auth/invitation', short)).status).toBe(400)
    expect((await browser.call('POST', '/admin/auth/invitation', accept)).status).toBe(200)
    expect((await browser.call('GET', USERS)).status).toBe(200)
    expect((await browser.call('POST', '/admin/auth/invitation', accept)).status).toBe(404)
    expect((await browser.login('grace@acme.example', PASSWORD)).status).toBe(200)
  })

  it('are changed at once, and logged out by a new password or invitation', async () => {
    const { user } = await add('grace@acme.example', 'admin')
    const browser = await loggedIn('grace@acme.example')
    const change = (body: unknown) => served.administer<Written>('PATCH', `/tenants/acme/users/${user.id}`, body)
    for (const nothing of [{ name: '  ' }, {}]) await expect(change(nothing)).rejects.toThrow(/ 400 /)
    await change({ role: 'viewer', name: 'Hopper' })
    expect((await browser.call('GET', '/admin/auth/session')).body).toMatchObject({ role: 'viewer' })
    await change({ email: 'hopper@acme.example' })
    const session = (await browser.call('GET', '/admin/auth/session')).body
    expect(session).toMatchObject({ username: 'hopper@acme.example', user_id: user.id })
    await change({ email: 'grace@acme.example' })
    await change({ password: 'another long password' })
    expect((await browser.call('GET', USERS)).status).toBe(401)
    expect((await browser.login('grace@acme.example', 'another long password')).status).toBe(200)
    expect(await change({ invite: true })).toMatchObject({ user: { status: 'invited' }, invitation_url: someText(/#/) })
    expect((await browser.call('GET', USERS)).status).toBe(401)
  })

  it('are deleted with their sessions', async () => {
    const { user } = await add('grace@acme.example', 'admin')
    const browser = await loggedIn('grace@acme.example')
    const deleted = await served.administer('DELETE', `/tenants/acme/users/${user.id}`)
    expect(deleted).toMatchObject({ ok: true, user: { id: user.id } })
    expect((await browser.call('GET', USERS)).status).toBe(401)
    expect((await browser.login('grace@acme.example', PASSWORD)).status).toBe(401)
  })

  it('have an e-mail of their own, over all tenants', async () => {
    await add('grace@acme.example', 'admin')
    const { user } = await add('alan@globex.example', 'admin', 'globex')
    const browser = await administrator()
    const body = { email: 'GRACE@acme.example', role: 'viewer' }
    for (const tenant of ['acme', 'globex'])
      expect((await browser.call('POST', `/admin/tenants/${tenant}/users`, { body })).status).toBe(409)
    const taken = { body: { email: 'grace@acme.example' } }
    expect((await browser.call('PATCH', `/admin/tenants/globex/users/${user.id}`, taken)).status).toBe(409)
  })

  it.each([
    [{ role: 'admin' }, '/body/email'],
    [{ email: 'no e-mail', role: 'admin' }, '/body/email'],
    [{ email: 'a@acme.example', role: 'owner' }, '/body/role'],
    [{ email: 'a@acme.example', role: 'admin', password: 'short' }, '/body/password'],
    [{ email: 'a@acme.example', role: 'admin', tenant_id: 'globex' }, '/body/tenant_id'],
  ])('are not made of %j', async (body, path) => {
    const answer = await (await administrator()).call('POST', USERS, { body })
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path }] } })
  })

  it('are unknown in another tenant, and nobody is known to a stranger', async () => {
    const { user } = await add('alan@globex.example', 'admin', 'globex')
    const browser = await administrator()
    const tries = [
      ['GET', '/admin/tenants/nobody/users'],
      ['PATCH', `${USERS}/${user.id}`],
      ['DELETE', `${USERS}/${user.id}`],
      ['PATCH', `${USERS}/${UNKNOWN_ID}`],
      ['DELETE', `${USERS}/someone`],
    ] as const
    for (const [method, path] of tries) {
      const sent = method === 'PATCH' ? { body: { name: 'x' } } : {}
      expect([path, (await browser.call(method, path, sent)).status]).toEqual([path, 404])
      expect([path, (await new Browser(served).call(method, path, sent)).status]).toEqual([path, 401])
    }
  })
})

describe('a role', () => {
  it('is asked for by every route there is, and by none that there is not', () => {
    const routes = registeredRoutes(served.app.server).map(({ method, url }) => routeKey(method, url))
    expect([...new Set(routes)].sort()).toEqual(Object.keys(ROLE_TABLE).sort())
  })

  it('may nothing that nobody thought of', () => {
    expect([mayDo('admin', 'GET', '/api/v1/new'), mayDo('admin', 'HEAD', '/api/v1/call-logs')]).toEqual([false, true])
  })

  it('lets a viewer read, and change nothing', async () => {
    const browser = await person('viewer')
    const reads = ['/admin/tenants/acme', USERS, '/admin/tenants/acme/api-keys', '/call-logs', '/dnc']
    for (const path of reads) expect([path, (await browser.call('GET', path)).status]).toEqual([path, 200])
    const writes = [
      ['PUT', '/admin/tenants/acme', { tenant_id: 'acme' }],
      ['POST', USERS, { email: 'x@acme.example', role: 'admin' }],
      ['POST', '/admin/tenants/acme/api-keys', { label: 'x' }],
      ['POST', '/dnc', { phone: '+12025550123' }],
      ['POST', '/make-call', { to: '+12025550123' }],
      ['POST', '/sessions/MZ1/actions', { action: 'end_call' }],
    ] as const
    for (const [method, path, body] of writes) {
      const answer = await browser.call(method, path, { body })
      expect([path, answer.status, answer.body['code']]).toEqual([path, 403, 'forbidden'])
    }
  })

  it('lets an operator look after calls and the do-not-call list, and not after the tenant', async () => {
    const browser = await person('operator')
    const listed = await browser.call('POST', '/dnc', { body: { phone: '+12025550123' } })
    expect(listed.status).toBe(200)
    const acted = await browser.call('POST', '/sessions/MZ1/actions', { body: { action: 'end_call' } })
    expect(acted.status).toBe(404)
    const key = await browser.call('POST', '/admin/tenants/acme/api-keys', { body: { label: 'x' } })
    expect(key.status).toBe(403)
  })

  it('lets nobody act as somebody else', async () => {
    const browser = await person('operator')
    const me = { operator: 'operator@acme.example' }
    const made = await browser.call('POST', '/callback-tasks', { body: { customer_phone: '+12025550123' } })
    const { id } = made.body['task'] as { id: string }
    const other = { body: { operator: 'Mallory' } }
    for (const path of [`/callback-tasks/${id}/claim`, '/operator-queues/default/claim-next'])
      expect([path, (await browser.call('POST', path, other)).status]).toEqual([path, 403])
    const act = { body: { action: 'end_call', supervisor: 'Mallory' } }
    expect((await browser.call('POST', '/sessions/MZ1/actions', act)).status).toBe(403)
    await browser.call('POST', `/callback-tasks/${id}/acknowledge`)
    const claimed = await browser.call('POST', `/callback-tasks/${id}/claim`, { body: me })
    expect(claimed).toMatchObject({ status: 200, body: { task: { assigned_to: me.operator } } })
    const given = await browser.call('POST', `/callback-tasks/${id}/assign`, other)
    expect(given).toMatchObject({ status: 200, body: { task: { assigned_to: 'Mallory' } } })
  })

  it('says who made and edited a task, and who took a number off the list', async () => {
    const browser = await person('operator')
    const me = 'operator@acme.example'
    const made = await browser.call('POST', '/callback-tasks', { body: { customer_phone: '+12025550123' } })
    const { id, created_by } = made.body['task'] as { id: string; created_by: string }
    await browser.call('PATCH', `/callback-tasks/${id}`, { body: { notes: 'After six.' } })
    const { body } = await browser.call('GET', `/callback-tasks/${id}/history`)
    const changes = body['changes'] as { action: string; operator: string | null }[]
    expect(created_by).toBe(me)
    expect(Object.fromEntries(changes.map(({ action, operator }) => [action, operator]))).toEqual({
      create: me,
      edit: me,
    })
    await browser.call('POST', '/dnc', { body: { phone: '+12025550123' } })
    await browser.call('DELETE', '/dnc/+12025550123')
    const log = await served.administer<{ entries: object[] }>('GET', '/audit-log?action=dnc.removed')
    expect(log.entries).toMatchObject([
      { actor: me, tenant_id: 'acme', before: { phone: expect.stringMatching(/23$/) } },
    ])
    expect(JSON.stringify(log)).not.toContain('+12025550123')
  })

  it('lets an admin do everything of the tenant, and nothing of the installation', async () => {
    const browser = await person('admin')
    const key = await browser.call('POST', '/admin/tenants/acme/api-keys', { body: { label: 'x' } })
    expect(key.status).toBe(200)
    for (const path of ['/admin/tenants', '/admin/audit-log', '/admin/auth/transport', '/admin/alerts/auth-transport'])
      expect([path, (await browser.call('GET', path)).status]).toEqual([path, 403])
    expect((await browser.call('DELETE', '/admin/tenants/acme')).status).toBe(403)
    expect((await browser.call('GET', '/admin/nothing')).status).toBe(404)
  })

  it("lets an admin take no number of the installation's carrier account", async () => {
    await served.administer('POST', '/tenants/acme/agents', { agent_key: 'desk', name: 'Desk', description: '' })
    const browser = await person('admin')
    const put = (telephony: object) =>
      browser.call('PUT', '/admin/tenants/acme', { body: { tenant_id: 'acme', telephony } })
    const from = { from_number: '+12025550123' }
    const account = { account_sid: `AC${'1'.repeat(32)}`, auth_token: 'f'.repeat(32) }
    const route = { phone_number: '+12025550123', agent_key: 'desk' }
    const add = (body: object) => browser.call('POST', '/admin/tenants/acme/phone-routes', { body })
    expect((await put(from)).status).toBe(403)
    const runtime = { body: { telephony: from } }
    expect((await browser.call('PUT', '/admin/tenants/acme/runtime-config', runtime)).status).toBe(403)
    expect([(await add(route)).status, (await add({ ...route, configure_carrier: true })).status]).toEqual([403, 403])
    expect([(await put(account)).status, (await add(route)).status, (await put({})).status]).toEqual([200, 403, 403])
  })

  it('is of one tenant: there is no other', async () => {
    await served.administer('POST', '/tenants/globex/api-keys', { label: 'theirs' })
    const browser = await person('admin')
    const paths = ['/admin/tenants/globex', '/admin/tenants/globex/api-keys']
    for (const path of paths) expect([path, (await browser.call('GET', path)).status]).toEqual([path, 404])
    const put = await browser.call('PUT', '/admin/tenants/initech', { body: { tenant_id: 'initech' } })
    expect(put.status).toBe(404)
    const posted = await browser.call('POST', '/admin/tenants/globex/users', {
      body: { email: 'x@x.example', role: 'admin' },
    })
    expect(posted.status).toBe(404)
  })

  it('counts what is asked of the administration for the tenant', async () => {
    const browser = await person('viewer')
    await served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', limits: { requests_per_minute: 2 } })
    const read = async () => (await browser.call('GET', USERS)).status
    await clock.advance(61_000)
    expect([await read(), await read(), await read()]).toEqual([200, 200, 429])
    await clock.advance(61_000)
    expect(await read()).toBe(200)
  })

  it('needs a page of ours for changes on the runtime surface too', async () => {
    const browser = await person('admin')
    const listed = await browser.call('POST', '/dnc', {
      body: { phone: '+12025550123' },
      origin: 'https://evil.example',
    })
    expect(listed.status).toBe(403)
  })
})
