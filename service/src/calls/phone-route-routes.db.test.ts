import { beforeEach, describe, expect, it } from 'vitest'
import { useAdminServer } from '../../test/harness/admin-server.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { someInstant, someUuid } from '../../test/harness/matchers.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { makeAgents } from '../agents/agents.ts'
import { THE_SYSTEM } from '../kernel/actor.ts'
import { systemClock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import { makeCarriers } from '../platform/telephony/registry.ts'
import { NO_ACCOUNT } from '../tenancy/no-account.fixture.ts'
import { toRuntime } from '../tenancy/tenant-defaults.ts'
import { makeConnectNumber } from './connect-number.ts'
import { phoneRouteRoutes } from './phone-route-routes.ts'
import { makePhoneRoutes } from './phone-routes.ts'

type RouteAnswer = { phone_route: { id: string; updated_at: string } }

const UNKNOWN_ID = '0190a000-0000-7000-8000-000000000000'
const ROUTE = { phone_number: '+12025550101', agent_key: 'support' }

const test = useDatabase()

const admin = useAdminServer(() => {
  const routes = makePhoneRoutes({ db: test.db, clock: systemClock })
  const tenants = { get: async (id: TenantId) => toRuntime({ tenant_id: id }, NO_ACCOUNT) }
  const [publicUrl, addressFault] = [() => 'http://localhost:8080', () => null]
  // Nobody listens there, and without an account nobody is asked.
  const carriers = makeCarriers({ apiBaseUrl: 'http://127.0.0.1:1' })
  const connectNumber = makeConnectNumber({ clock: systemClock, tenants, carriers, publicUrl, addressFault })
  return [phoneRouteRoutes({ routes, connectNumber })]
})

beforeEach(async () => {
  const agents = makeAgents({ db: test.db, clock: systemClock })
  for (const id of ['acme', 'globex']) {
    const tenantId = await makeTenant(test.db, id)
    await agents.create(tenantId, { agentKey: 'support', name: 'Support', description: '' }, THE_SYSTEM)
  }
})

function create(tenant: string, body: object = ROUTE) {
  return admin.call<RouteAnswer>('POST', `/tenants/${tenant}/phone-routes`, { body })
}

const FAULTY: [what: string, body: object, path: string][] = [
  ['no number', { agent_key: 'support' }, '/body/phone_number'],
  ['no agent', { phone_number: '+12025550101' }, '/body/agent_key'],
  ['a number without its +', { ...ROUTE, phone_number: '12025550101' }, '/body/phone_number'],
  ['a number that cannot be', { ...ROUTE, phone_number: '+1202555' }, '/body/phone_number'],
  ['an agent that the tenant does not have', { ...ROUTE, agent_key: 'sales' }, '/body/agent_key'],
  ['a flag that is none', { ...ROUTE, inbound_enabled: 'yes' }, '/body/inbound_enabled'],
  ['a label of 201 characters', { ...ROUTE, label: 'x'.repeat(201) }, '/body/label'],
  ['a tenant without an account at the carrier', { ...ROUTE, configure_carrier: true }, '/body/configure_carrier'],
  ['an unknown field', { ...ROUTE, carrier: true }, '/body/carrier'],
]

describe('POST phone-routes', () => {
  it('answers the route with its defaults', async () => {
    expect(await create('acme')).toEqual({
      status: 200,
      body: {
        ok: true,
        phone_route: {
          id: someUuid,
          tenant_id: 'acme',
          ...ROUTE,
          label: '',
          inbound_enabled: true,
          outbound_default: false,
          created_at: someInstant,
          updated_at: someInstant,
        },
      },
    })
  })

  it.each(FAULTY)('refuses %s and names it', async (_what, body, path) => {
    expect(await create('acme', body)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', details: [{ path }] },
    })
  })

  it('refuses a number that has a route, of this tenant or of another', async () => {
    await create('acme')
    for (const tenant of ['acme', 'globex']) {
      expect(await create(tenant)).toMatchObject({ status: 409, body: { code: 'conflict' } })
    }
  })

  it('knows no unknown tenant', async () => {
    expect(await create('nobody')).toMatchObject({ status: 404, body: { code: 'not_found' } })
  })
})

describe('GET phone-routes', () => {
  it("lists the tenant's own routes", async () => {
    await create('acme')
    await create('globex', { ...ROUTE, phone_number: '+12025550102' })
    expect(await admin.call('GET', '/tenants/acme/phone-routes')).toMatchObject({
      status: 200,
      body: { ok: true, count: 1, next_cursor: null, phone_routes: [ROUTE] },
    })
  })

  it('refuses an unknown parameter and knows no unknown tenant', async () => {
    expect(await admin.call('GET', '/tenants/acme/phone-routes?label=x')).toMatchObject({ status: 400 })
    expect(await admin.call('GET', '/tenants/nobody/phone-routes')).toMatchObject({ status: 404 })
  })
})

describe('PUT phone-routes/:route_id', () => {
  it('replaces the route: what is left out has its default again', async () => {
    const { id } = (await create('acme', { ...ROUTE, label: 'Front desk', inbound_enabled: false })).body.phone_route
    const body = { phone_number: '+12025550102', agent_key: 'support', outbound_default: true }
    expect(await admin.call('PUT', `/tenants/acme/phone-routes/${id}`, { body })).toMatchObject({
      status: 200,
      body: { ok: true, phone_route: { id, ...body, label: '', inbound_enabled: true } },
    })
  })

  it.each(FAULTY)('refuses %s and names it', async (_what, body, path) => {
    const { id } = (await create('acme')).body.phone_route
    expect(await admin.call('PUT', `/tenants/acme/phone-routes/${id}`, { body })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', details: [{ path }] },
    })
  })

  it('refuses the number of another route', async () => {
    await create('acme')
    const { id } = (await create('acme', { ...ROUTE, phone_number: '+12025550102' })).body.phone_route
    const answer = await admin.call('PUT', `/tenants/acme/phone-routes/${id}`, { body: ROUTE })
    expect(answer).toMatchObject({ status: 409, body: { code: 'conflict' } })
  })
})

describe('DELETE phone-routes/:route_id', () => {
  it('answers what it deleted', async () => {
    const { body } = await create('acme')
    const path = `/tenants/acme/phone-routes/${body.phone_route.id}`
    expect(await admin.call('DELETE', path)).toEqual({ status: 200, body })
    expect(await admin.call('DELETE', path)).toMatchObject({ status: 404 })
  })
})

describe('the phone route routes', () => {
  it.each(['PUT', 'DELETE'] as const)(
    "reach no other tenant's route, no unknown one and no unknown tenant with %s",
    async (method) => {
      const { phone_route } = (await create('globex')).body
      for (const path of [
        `/tenants/acme/phone-routes/${phone_route.id}`,
        `/tenants/acme/phone-routes/${UNKNOWN_ID}`,
        '/tenants/acme/phone-routes/first',
        `/tenants/nobody/phone-routes/${phone_route.id}`,
      ]) {
        const body = method === 'PUT' ? { ...ROUTE, phone_number: '+12025550109' } : undefined
        expect(await admin.call(method, path, { body })).toMatchObject({ status: 404, body: { code: 'not_found' } })
      }
      const { body: list } = await admin.call('GET', '/tenants/globex/phone-routes')
      expect(list).toMatchObject({ phone_routes: [phone_route] })
    },
  )

  it.each([
    ['GET', '/tenants/acme/phone-routes'],
    ['POST', '/tenants/acme/phone-routes'],
    ['PUT', `/tenants/acme/phone-routes/${UNKNOWN_ID}`],
    ['DELETE', `/tenants/acme/phone-routes/${UNKNOWN_ID}`],
  ] as const)('let nobody without the admin key %s %s', async (method, path) => {
    expect(await admin.call(method, path, { adminKey: null })).toMatchObject({ status: 401 })
  })
})
