import { beforeEach, describe, expect, it } from 'vitest'
import { useAdminServer } from '../../test/harness/admin-server.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { someInstant, someUuid } from '../../test/harness/matchers.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { systemClock } from '../kernel/clock.ts'
import { agentRoutes } from './agent-routes.ts'
import { makeAgents } from './agents.ts'

const test = useDatabase()
const admin = useAdminServer(() => [agentRoutes(makeAgents({ db: test.db, clock: systemClock }))])

beforeEach(async () => {
  await makeTenant(test.db, 'acme')
  await makeTenant(test.db, 'globex')
})

function create(tenant: string, agentKey: string) {
  return admin.call('POST', `/tenants/${tenant}/agents`, { body: { agent_key: agentKey, name: 'Support' } })
}

describe('POST agents', () => {
  it('answers the agent', async () => {
    const body = { agent_key: 'support', name: 'Support', description: 'Answers questions.' }
    const { status, body: answered } = await admin.call('POST', '/tenants/acme/agents', { body })
    expect([status, answered]).toEqual([
      200,
      {
        ok: true,
        agent: {
          id: someUuid,
          tenant_id: 'acme',
          ...body,
          require_simulation: false,
          created_at: someInstant,
          updated_at: someInstant,
        },
      },
    ])
  })

  it('takes an agent without a description', async () => {
    expect(await create('acme', 'support')).toMatchObject({ status: 200, body: { agent: { description: '' } } })
  })

  it.each([
    ['no agent_key', { name: 'Support' }, '/body/agent_key'],
    ['no name', { agent_key: 'support' }, '/body/name'],
    ['an empty name', { agent_key: 'support', name: '' }, '/body/name'],
    ['a name of blanks', { agent_key: 'support', name: '  ' }, '/body/name'],
    ['an upper-case key', { agent_key: 'Support', name: 'Support' }, '/body/agent_key'],
    ['a key of 64 characters', { agent_key: 'x'.repeat(64), name: 'Support' }, '/body/agent_key'],
    ['a key with a line feed', { agent_key: 'support\n', name: 'Support' }, '/body/agent_key'],
    ['an unknown field', { agent_key: 'support', name: 'Support', voice: 'marin' }, '/body/voice'],
  ])('refuses %s and names it', async (_what, body, path) => {
    const answer = await admin.call('POST', '/tenants/acme/agents', { body })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', details: [{ path }] } })
  })

  it('refuses a second agent of a key, even of two that come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create('acme', 'support')))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array.from({ length: 7 }, () => 409),
    ])
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({ code: 'conflict' })
  })

  it('takes the key of an agent that another tenant has', async () => {
    await create('acme', 'support')
    expect(await create('globex', 'support')).toMatchObject({ status: 200, body: { agent: { tenant_id: 'globex' } } })
  })

  it.each(['nobody', 'NOBODY!', '%20'])('knows no tenant %s', async (tenant) => {
    expect(await create(tenant, 'support')).toMatchObject({ status: 404, body: { code: 'not_found' } })
  })
})

describe('PATCH agents', () => {
  type Made = { agent: { id: string } }
  const made = async (tenant = 'acme') => ((await create(tenant, 'support')).body as Made).agent.id
  const change = (id: string, body: unknown, tenant = 'acme') =>
    admin.call('PATCH', `/tenants/${tenant}/agents/${id}`, { body })

  it('changes what is given, and nothing else', async () => {
    const id = await made()
    const body = { description: 'Answers questions.', require_simulation: true }
    expect(await change(id, body)).toMatchObject({
      ...{ status: 200, body: { ok: true, agent: { id, agent_key: 'support', name: 'Support', ...body } } },
    })
    expect(await change(id, { name: 'Help desk' })).toMatchObject({ body: { agent: { name: 'Help desk', ...body } } })
  })

  it.each([
    [{}, '/body'],
    [{ name: '' }, '/body/name'],
    [{ agent_key: 'other' }, '/body/agent_key'],
    [{ require_simulation: 'yes' }, '/body/require_simulation'],
  ])('refuses %j and names what is wrong', async (body, path) => {
    expect(await change(await made(), body)).toMatchObject({ status: 400, body: { details: [{ path }] } })
  })

  it("knows no agent of another tenant's", async () => {
    const id = await made('globex')
    for (const unknown of [id, 'x'])
      expect(await change(unknown, { name: 'Mine' })).toMatchObject({ status: 404, body: { code: 'not_found' } })
  })
})

describe('GET agents', () => {
  it("lists the tenant's own agents", async () => {
    await create('acme', 'support')
    await create('globex', 'sales')
    expect(await admin.call('GET', '/tenants/acme/agents')).toMatchObject({
      status: 200,
      body: { ok: true, count: 1, next_cursor: null, agents: [{ agent_key: 'support', tenant_id: 'acme' }] },
    })
  })

  it('is empty for a tenant without agents, and 404 for no tenant', async () => {
    expect(await admin.call('GET', '/tenants/acme/agents')).toMatchObject({ status: 200, body: { agents: [] } })
    expect(await admin.call('GET', '/tenants/nobody/agents')).toMatchObject({ status: 404 })
  })

  it('pages by offset and by cursor alike', async () => {
    for (const key of ['a', 'b', 'c']) await create('acme', key)
    type List = { agents: { agent_key: string }[]; next_cursor: string | null }
    const all = await admin.call<List>('GET', '/tenants/acme/agents')
    const first = await admin.call<List>('GET', '/tenants/acme/agents?limit=1')
    const byCursor = await admin.call<List>('GET', `/tenants/acme/agents?limit=2&cursor=${first.body.next_cursor}`)
    const byOffset = await admin.call<List>('GET', '/tenants/acme/agents?limit=2&offset=1')
    expect(byCursor.body).toEqual(byOffset.body)
    expect([...first.body.agents, ...byCursor.body.agents]).toEqual(all.body.agents)
  })

  it('takes a limit of 0 and refuses one above 500', async () => {
    await create('acme', 'support')
    expect(await admin.call('GET', '/tenants/acme/agents?limit=0')).toMatchObject({ status: 200, body: { count: 0 } })
    expect(await admin.call('GET', '/tenants/acme/agents?limit=501')).toMatchObject({ status: 400 })
  })
})

describe('the agent routes', () => {
  it.each(['GET', 'POST'] as const)('let nobody without the admin key %s', async (method) => {
    const answer = await admin.call(method, '/tenants/acme/agents', { adminKey: null })
    expect(answer).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
  })
})
