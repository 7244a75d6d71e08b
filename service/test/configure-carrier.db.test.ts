import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Simulator, startSimulator } from '../../simulator/src/simulator.ts'
import { makeAgents } from '../src/agents/agents.ts'
import { makeConnectNumber } from '../src/calls/connect-number.ts'
import { phoneRouteRoutes } from '../src/calls/phone-route-routes.ts'
import { makePhoneRoutes } from '../src/calls/phone-routes.ts'
import { THE_SYSTEM } from '../src/kernel/actor.ts'
import { systemClock } from '../src/kernel/clock.ts'
import type { TenantId } from '../src/kernel/ids.ts'
import { makeCarriers } from '../src/platform/telephony/registry.ts'
import { NO_ACCOUNT } from '../src/tenancy/no-account.fixture.ts'
import { toRuntime } from '../src/tenancy/tenant-defaults.ts'
import { useAdminServer } from './harness/admin-server.ts'
import { useDatabase } from './harness/database.ts'
import { makeTenant } from './harness/tenants.ts'

const ROUTE = { phone_number: '+12025550101', agent_key: 'support' }
const ACCOUNT = { accountSid: 'AC00000000000000000000000000000001', authToken: 'a-secret-auth-token' }
const PUBLIC_URL = 'http://localhost:8080'

const test = useDatabase()
let simulator: Simulator
let carrier: Simulator['carrier']
let addressFault: string | null

beforeAll(async () => {
  const at = { host: '127.0.0.1', port: 0 }
  simulator = await startSimulator({ carrier: { ...at, ...ACCOUNT, numbers: [ROUTE.phone_number] }, model: at })
  carrier = simulator.carrier
})
afterAll(() => simulator.close())

const admin = useAdminServer(() => {
  const telephony = { account_sid: ACCOUNT.accountSid, auth_token: ACCOUNT.authToken }
  // Only acme has an account.
  const tenants = {
    get: async (id: TenantId) => toRuntime({ tenant_id: id, telephony: id === 'acme' ? telephony : null }, NO_ACCOUNT),
  }
  const asked = { clock: systemClock, tenants, publicUrl: () => PUBLIC_URL, addressFault: () => addressFault }
  const carriers = makeCarriers({ apiBaseUrl: carrier.baseUrl })
  const routes = makePhoneRoutes({ db: test.db, clock: systemClock })
  return [phoneRouteRoutes({ routes, connectNumber: makeConnectNumber({ ...asked, carriers }) })]
})

beforeEach(async () => {
  addressFault = null
  const agents = makeAgents({ db: test.db, clock: systemClock })
  for (const id of ['acme', 'globex']) {
    const tenantId = await makeTenant(test.db, id)
    await agents.create(tenantId, { agentKey: 'support', name: 'Support', description: '' }, THE_SYSTEM)
  }
})

function create(tenant: string, body: object) {
  return admin.call('POST', `/tenants/${tenant}/phone-routes`, { body })
}

describe('a phone route with configure_carrier', () => {
  const configured = { ...ROUTE, configure_carrier: true }
  const routes = async () => (await admin.call<{ count: number }>('GET', '/tenants/acme/phone-routes')).body.count

  async function addresses(): Promise<unknown> {
    const authorization = `Basic ${Buffer.from(`${ACCOUNT.accountSid}:${ACCOUNT.authToken}`).toString('base64')}`
    const url = `${carrier.baseUrl}/2010-04-01/Accounts/${ACCOUNT.accountSid}/IncomingPhoneNumbers.json`
    const { incoming_phone_numbers } = (await (await fetch(url, { headers: { authorization } })).json()) as {
      incoming_phone_numbers: Record<string, unknown>[]
    }
    const [number] = incoming_phone_numbers
    return [number?.['voice_url'], number?.['voice_fallback_url'], number?.['status_callback']]
  }

  it('stores nothing when the carrier cannot do it', async () => {
    const cases: [tenant: string, body: object, path: string][] = [
      ['acme', { ...configured, phone_number: '+12025550199' }, '/body/phone_number'],
      ['acme', { ...configured, agent_key: 'sales' }, '/body/agent_key'],
      ['globex', configured, '/body/configure_carrier'],
    ]
    for (const [tenant, body, path] of cases) {
      expect(await create(tenant, body)).toMatchObject({ status: 400, body: { details: [{ path }] } })
    }
    addressFault = 'PUBLIC_URL is not set: the carrier cannot reach this machine by that.'
    expect(await create('acme', configured)).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('PUBLIC_URL is not set') },
    })
    expect([await routes(), await addresses()]).toEqual([0, ['', '', '']])
  })

  it('stores nothing when the carrier fails, and can be repeated', async () => {
    Object.assign(carrier.faults.rest, { fetch: 'internal-error' })
    expect(await create('acme', configured)).toMatchObject({ status: 502, body: { code: 'upstream_failed' } })
    expect(await routes()).toBe(0)
    Object.assign(carrier.faults.rest, { fetch: 'normal' })
    expect(await create('acme', configured)).toMatchObject({ status: 200, body: { phone_route: ROUTE } })
    const [voice, fallback, status] = ['incoming-call', 'call-resume', 'call-status']
    const set = [voice, fallback, status].map((path) => `${PUBLIC_URL}/api/v1/${path}`)
    expect(await addresses()).toEqual(set)
    const { phone_routes } = (await admin.call<{ phone_routes: { id: string }[] }>('GET', '/tenants/acme/phone-routes'))
      .body
    const path = `/tenants/acme/phone-routes/${phone_routes[0]?.id}`
    expect(await admin.call('PUT', path, { body: configured })).toMatchObject({ status: 200 })
    expect(await admin.call('PUT', path, { body: { ...configured, phone_number: '+12025550199' } })).toMatchObject({
      status: 400,
    })
  })
})
