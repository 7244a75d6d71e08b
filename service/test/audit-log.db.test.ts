import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROLE_TABLE } from '../src/role-table.ts'
import { Browser } from './harness/browser.ts'
import { TestClock } from './harness/clock.ts'
import { useDatabase } from './harness/database.ts'
import { someInstant, someUuid } from './harness/matchers.ts'
import { ServedApp } from './harness/served-app.ts'

const test = useDatabase()
const PASSWORD = 'a long enough password'

type Entry = Record<string, unknown> & { action: string; actor: string; target_id: string }
type Log = { count: number; next_cursor: string | null; entries: Entry[] }

const clock = new TestClock()
let served: ServedApp

beforeAll(async () => {
  served = await ServedApp.start(test, { clock, settings: SETTINGS })
})
afterAll(() => served.app.close())

const SETTINGS = {
  ...{ ADMIN_USERNAME: 'ada', ADMIN_PASSWORD: PASSWORD },
  // Where nobody listens.
  BILLING_WEBHOOK_URL: 'http://127.0.0.1:9/',
}

/** What writes below /admin without a change of what is administered; who comes and goes has its own test. */
const NO_CHANGES = [
  ...['POST /tenants/validate', 'POST /tenants/evict-idle', 'POST /tenants/reload-cached'],
  // What they do to tasks stands in the history of each.
  ...['POST /operator-queues/sweep', 'POST /operator-queues/dispatch'],
  ...['POST /operator-queues/follow-up-notifications/sweep', 'POST /operator-queues/external-reconciliation/sweep'],
  // It counts.
  'POST /analytics/sweep',
  // What they take away is written down as what was done to a rollout.
  ...['POST /rollout-governance/sweep', 'POST /tenants/:tenant_id/agents/:agent_id/rollout-governance/evaluate'],
  ...['POST /outboxes/billing-outcomes/sweep', 'POST /auth/login', 'POST /auth/logout', 'POST /auth/invitation'],
]

/** `POST /tenants/:tenant_id/users` and so on: every route below /admin that writes. */
const WRITES = Object.keys(ROLE_TABLE)
  .filter((route) => /^(POST|PUT|PATCH|DELETE) \/api\/v1\/admin\//.test(route))
  .map((route) => route.replace('/api/v1/admin', ''))

const log = (query = '') => served.administer<Log>('GET', `/audit-log${query}`)
/** In no order: all of it happens in the same millisecond. */
const actions = async (query = '') => (await log(query)).entries.map(({ action }) => action).sort()
const put = (tenant: string, document: object) =>
  served.administer('PUT', `/tenants/${tenant}`, { tenant_id: tenant, ...document })

describe('the audit log', () => {
  it('has every change of the administration, as it was before and after', async () => {
    const agentId = await served.furnish('acme', { number: '+12025550140' })
    await put('acme', { name: 'Acme', auth_token: 'a-token-of-twenty-characters' })
    const { api_keys } = await served.administer<{ api_keys: { id: string }[] }>('GET', '/tenants/acme/api-keys')
    await served.administer('DELETE', `/tenants/acme/api-keys/${api_keys[0]?.id}`)
    await served.administer('DELETE', `/tenants/acme/api-keys/${api_keys[0]?.id}`)
    type Routes = { phone_routes: { id: string }[] }
    const { phone_routes } = await served.administer<Routes>('GET', '/tenants/acme/phone-routes')
    const route = `/tenants/acme/phone-routes/${phone_routes[0]?.id}`
    await served.administer('PUT', route, { phone_number: '+12025550141', agent_key: 'desk' })
    await served.administer('DELETE', route)
    await served.administer('DELETE', '/tenants/acme')
    expect(await actions('?tenant_id=acme')).toEqual(
      [
        ...['tenant.created', 'api_key.created', 'agent.created', 'agent_version.created', 'agent_version.published'],
        ...['phone_route.created', 'tenant.changed', 'api_key.revoked', 'phone_route.changed', 'phone_route.deleted'],
        'tenant.deleted',
      ].sort(),
    )
    const { entries } = await log('?tenant_id=acme&action=phone_route.changed')
    expect(entries).toEqual([
      {
        ...{ id: someUuid, tenant_id: 'acme', actor_kind: 'key', actor: 'admin key', actor_id: null },
        ...{ action: 'phone_route.changed', target_id: phone_routes[0]?.id, created_at: someInstant },
        before: expect.objectContaining({ phone_number: '+12025550140' }),
        after: expect.objectContaining({ phone_number: '+12025550141', agent_key: 'desk' }),
      },
    ])
    expect((await log(`?target_id=${agentId}`)).entries).toMatchObject([{ action: 'agent.created', before: null }])
  })

  it('has a row of each route that changes something', async () => {
    const asked = await served.call<{ request_id: string }>(null, 'POST', '/access-requests', {
      ...{ company_name: 'Acme', contact_name: 'Grace', work_email: 'grace@acme.example', use_case: 'Calls.' },
    })
    const known: Record<string, unknown> = {
      tenant_id: 'acme',
      id: asked.body.request_id,
      queue_key: 'sales',
      key: 'hello',
    }
    const written: string[] = []
    async function write(route: string, action: string, body?: object): Promise<string | undefined> {
      const [method = '', path = ''] = route.split(' ')
      const url = path.replace(/:(\w+)/g, (_, name) => String(known[name]))
      const of = `?action=${action}&limit=500`
      const before = (await log(of)).count
      await served.administer(method as 'PUT', url, body)
      const { count, entries } = await log(of)
      expect([route, count - before, entries[0]?.actor]).toEqual([route, 1, 'admin key'])
      written.push(route)
      return entries[0]?.target_id
    }
    const tenant = '/tenants/:tenant_id'
    await write(`PUT ${tenant}`, 'tenant.created', { tenant_id: 'acme' })
    await write(`PUT ${tenant}/runtime-config`, 'tenant.changed', { voice: 'marin' })
    known['user_id'] = await write(`POST ${tenant}/users`, 'user.created', { email: 'a@acme.example', role: 'admin' })
    await write(`PATCH ${tenant}/users/:user_id`, 'user.changed', { name: 'Ada' })
    await write(`DELETE ${tenant}/users/:user_id`, 'user.deleted')
    known['key_id'] = await write(`POST ${tenant}/api-keys`, 'api_key.created', { label: 'x' })
    await write(`DELETE ${tenant}/api-keys/:key_id`, 'api_key.revoked')
    known['agent_id'] = await write(`POST ${tenant}/agents`, 'agent.created', { agent_key: 'desk', name: 'Desk' })
    await write(`PATCH ${tenant}/agents/:agent_id`, 'agent.changed', { name: 'Front desk' })
    const draft = { agent_id: known['agent_id'], config: {} }
    known['version_id'] = await write(`POST ${tenant}/agent-versions`, 'agent_version.created', draft)
    await write(`PATCH ${tenant}/agent-versions/:version_id`, 'agent_version.changed', { config: { greeting: 'Hi.' } })
    await write(`POST ${tenant}/agent-versions/:version_id/publish`, 'agent_version.published')
    const entries = [{ agent_version_id: known['version_id'], traffic_percentage: 10 }]
    await write(`PUT ${tenant}/agents/:agent_id/rollouts`, 'rollout.changed', { entries })
    await write(`PUT ${tenant}/agents/:agent_id/rollout-policy`, 'rollout_policy.changed', { enabled: true })
    const route = { phone_number: '+12025550140', agent_key: 'desk' }
    known['route_id'] = await write(`POST ${tenant}/phone-routes`, 'phone_route.created', route)
    await write(`PUT ${tenant}/phone-routes/:route_id`, 'phone_route.changed', { ...route, label: 'x' })
    await write(`DELETE ${tenant}/phone-routes/:route_id`, 'phone_route.deleted')
    await write(`PUT ${tenant}/operator-queues/:queue_key`, 'operator_queue.changed', { name: 'Sales' })
    await write(`DELETE ${tenant}/operator-queues/:queue_key`, 'operator_queue.deleted')
    await write(`POST ${tenant}/webhook-deliveries`, 'webhook.redelivered', { status: 'failed' })
    known['outbox'] = 'billing-outcomes'
    await write('POST /outboxes/:outbox/deliveries', 'billing.redelivered', { status: 'failed' })
    await write('PATCH /api-access-requests/:id', 'access_request.reviewed', { status: 'approved' })
    await write('PUT /prompts/:key', 'prompt.created', { text: 'Hello.' })
    await write('PUT /prompts/:key', 'prompt.changed', { text: 'Hello you.' })
    await write('DELETE /prompts/:key', 'prompt.deleted')
    await write(`DELETE ${tenant}`, 'tenant.deleted')
    expect([...new Set([...written, ...NO_CHANGES])].sort()).toEqual([...WRITES].sort())
  })

  it('holds no secret', async () => {
    await served.furnish('acme', { number: '+12025550140' })
    const headers = { authorization: 'Bearer of-a-tool-that-is-secret' }
    const tool = {
      type: 'http',
      name: 'look_up',
      description: 'Looks up.',
      url: 'https://tools.example/look-up',
      headers,
    }
    const asked = (name: string) => `https://${name}.example/?code=a-query-of-${name}`
    await put('acme', {
      ...{ auth_token: 'a-token-of-twenty-characters', tools: [{ ...tool, url: asked('tools') }] },
      ...{ webhook: { url: asked('hooks') }, inbound_decision: { url: asked('decide') } },
      ticketing: { driver: 'generic', base_url: asked('tickets') },
    })
    await served.administer('DELETE', '/tenants/acme')
    await served.furnish('acme', { number: '+12025550140' })
    await served.administer('POST', '/tenants/acme/users', {
      email: 'a@acme.example',
      role: 'admin',
      password: PASSWORD,
    })
    const text = JSON.stringify(await log())
    for (const secret of [
      'a-query-of',
      'a-token-of-twenty',
      'tool-that-is-secret',
      PASSWORD,
      'argon2',
      served.tokenOf('acme'),
    ])
      expect([secret, text.includes(secret)]).toEqual([secret, false])
    expect(text).toContain('***')
  })

  it('has nothing of what did not happen', async () => {
    await put('acme', { name: 'Acme' })
    await put('acme', { name: 'Acme' })
    await expect(put('acme', { name: 7 })).rejects.toThrow('400')
    await expect(served.administer('DELETE', '/tenants/nobody')).rejects.toThrow('404')
    const agent = { agent_key: 'desk', name: 'Desk' }
    await served.administer('POST', '/tenants/acme/agents', agent)
    await expect(served.administer('POST', '/tenants/acme/agents', agent)).rejects.toThrow('409')
    expect(await actions()).toEqual(['agent.created', 'tenant.created'])
  })

  it('is written with the change, or the change is not made', async () => {
    await sql`alter table audit_log rename to audit_log_away`.execute(test.db)
    try {
      await expect(put('acme', {})).rejects.toThrow('500')
    } finally {
      await sql`alter table audit_log_away rename to audit_log`.execute(test.db)
    }
    await expect(served.administer('GET', '/tenants/acme')).rejects.toThrow('404')
  })

  it('names people, and who came and went', async () => {
    await put('acme', {})
    const user = { email: 'grace@acme.example', role: 'admin', password: PASSWORD }
    await served.administer('POST', '/tenants/acme/users', user)
    const browser = new Browser(served)
    await browser.login(user.email, 'not the password')
    await browser.login(user.email, PASSWORD)
    await browser.call('POST', '/admin/tenants/acme/api-keys', { body: { label: 'mine' } })
    await browser.call('POST', '/admin/auth/logout')
    const { entries } = await log()
    expect(entries.map(({ action, actor_kind, actor }) => `${action} ${actor_kind} ${actor}`).sort()).toEqual([
      'api_key.created person grace@acme.example',
      'session.began person grace@acme.example',
      'session.ended person grace@acme.example',
      'session.refused stranger 127.0.0.1',
      'tenant.created key admin key',
      'user.created key admin key',
    ])
    expect(await actions('?actor=grace@acme.example&action=api_key.created')).toEqual(['api_key.created'])
  })

  it('is read in pages, and by when it happened', async () => {
    const start = new Date(clock.now()).toISOString()
    for (const tenant of ['a', 'b', 'c']) {
      await put(tenant, {})
      await clock.advance(1_000)
    }
    const first = await log('?limit=2')
    const second = await log(`?limit=2&cursor=${first.next_cursor}`)
    const ids = [...first.entries, ...second.entries].map(({ target_id }) => target_id)
    expect([ids, second.next_cursor]).toEqual([['c', 'b', 'a'], null])
    const middle = new Date(Date.parse(start) + 1_000).toISOString()
    expect(await actions(`?created_before=${middle}&created_after=${start}`)).toHaveLength(1)
  })

  it.each(['limit=501', 'cursor=nonsense', 'colour=blue', 'created_after=yesterday'])('refuses ?%s', async (query) => {
    await expect(log(`?${query}`)).rejects.toThrow('400')
  })

  it('is shown to the administrator alone', async () => {
    await put('acme', {})
    const user = { email: 'grace@acme.example', role: 'admin', password: PASSWORD }
    await served.administer('POST', '/tenants/acme/users', user)
    const browser = new Browser(served)
    expect((await browser.call('GET', '/admin/audit-log')).status).toBe(401)
    await browser.login(user.email, PASSWORD)
    expect((await browser.call('GET', '/admin/audit-log')).status).toBe(403)
  })
})
