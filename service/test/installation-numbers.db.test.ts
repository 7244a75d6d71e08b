import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Simulator, startSimulator } from '../../simulator/src/simulator.ts'
import { Browser } from './harness/browser.ts'
import { useDatabase } from './harness/database.ts'
import { ServedApp } from './harness/served-app.ts'

const test = useDatabase()
const PASSWORD = 'a long enough password'
/** TELEPHONY_FROM_NUMBER, and numbers that nobody has spoken for. */
const [INSTALLATIONS, GIVEN, OWN] = ['+12025550190', '+12025550191', '+12025550192']
const INVENTED = { account_sid: `AC${'1'.repeat(32)}`, auth_token: 'f'.repeat(32) }
const ACCOUNT = { account_sid: `AC${'2'.repeat(32)}`, auth_token: 'd'.repeat(32) }

let served: ServedApp
let simulator: Simulator
let person: Browser

beforeAll(async () => {
  const account = { TELEPHONY_ACCOUNT_SID: `AC${'9'.repeat(32)}`, TELEPHONY_AUTH_TOKEN: 'e'.repeat(32) }
  const at = { host: '127.0.0.1', port: 0 }
  const known = { accountSid: ACCOUNT.account_sid, authToken: ACCOUNT.auth_token, numbers: [OWN] }
  simulator = await startSimulator({ carrier: { ...at, ...known }, model: at })
  const carrier = { TELEPHONY_API_BASE_URL: simulator.carrier.baseUrl }
  const login = { ADMIN_USERNAME: 'ada', ADMIN_PASSWORD: PASSWORD }
  served = await ServedApp.start(test, {
    settings: { ...account, ...carrier, ...login, TELEPHONY_FROM_NUMBER: INSTALLATIONS },
  })
})
afterAll(() => Promise.all([served.app.close(), simulator.close()]))
beforeEach(async () => {
  await served.administer('PUT', '/tenants/acme', { tenant_id: 'acme' })
  await served.administer('POST', '/tenants/acme/agents', { agent_key: 'desk', name: 'Desk', description: '' })
  const admin = { email: 'ann@acme.example', role: 'admin', password: PASSWORD }
  await served.administer('POST', '/tenants/acme/users', admin)
  person = new Browser(served)
  await person.login(admin.email, PASSWORD)
})

const ROUTES = '/tenants/acme/phone-routes'
const routeTo = (phone_number: string, more: object = {}) => ({ phone_number, agent_key: 'desk', ...more })
const add = (body: object) => person.call('POST', `/admin${ROUTES}`, { body })
const put = (telephony: object) => person.call('PUT', '/admin/tenants/acme', { body: { tenant_id: 'acme', telephony } })

describe('a person of a tenant', () => {
  it("takes TELEPHONY_FROM_NUMBER in no way, not even with an account of the tenant's own", async () => {
    expect((await put(ACCOUNT)).status).toBe(200)
    await served.administer('POST', ROUTES, routeTo(OWN))
    const taken = await add(routeTo(INSTALLATIONS))
    expect([taken.status, taken.body['code']]).toEqual([403, 'forbidden'])
    const { phone_routes } = await served.administer<{ phone_routes: { id: string }[] }>('GET', ROUTES)
    const path = `/admin${ROUTES}/${phone_routes[0]?.id}`
    const changes = [
      await person.call('PUT', path, { body: routeTo(INSTALLATIONS) }),
      await put({ ...ACCOUNT, from_number: INSTALLATIONS }),
      await person.call('PUT', '/admin/tenants/acme/runtime-config', {
        body: { telephony: { from_number: INSTALLATIONS } },
      }),
    ]
    expect(changes.map(({ status }) => status)).toEqual([403, 403, 403])
    expect(await served.administer('GET', ROUTES)).toMatchObject({ phone_routes: [{ phone_number: OWN }] })
  })

  it('takes a number that the carrier has for the account of the tenant, and no other that nobody holds', async () => {
    await put(INVENTED)
    const connected = { configure_carrier: true }
    expect((await add(routeTo(OWN))).body['code']).toBe('forbidden')
    expect((await put({ ...INVENTED, from_number: OWN })).body['code']).toBe('forbidden')
    expect((await add(routeTo(OWN, connected))).body['code']).toBe('upstream_failed')
    await put(ACCOUNT)
    expect((await add(routeTo(GIVEN, connected))).status).toBe(400)
    expect(await served.administer('GET', ROUTES)).toMatchObject({ count: 0 })
    expect((await add(routeTo(OWN, connected))).status).toBe(200)
    expect((await put({ ...ACCOUNT, from_number: OWN })).status).toBe(200)
  })

  it("connects no number in the installation's name, though the administrator gave it", async () => {
    const given = await served.administer<{ phone_route: { id: string } }>('POST', ROUTES, routeTo(GIVEN))
    const path = `/admin${ROUTES}/${given.phone_route.id}`
    const connected = await person.call('PUT', path, { body: routeTo(GIVEN, { configure_carrier: true }) })
    expect([connected.status, connected.body['code']]).toEqual([403, 'forbidden'])
    const labelled = await person.call('PUT', path, { body: routeTo(GIVEN, { label: 'Front desk' }) })
    expect(labelled.status).toBe(200)
  })

  it('is told when configure_carrier is none', async () => {
    await put(ACCOUNT)
    for (const configure_carrier of ['true', 1, null]) {
      const { status, body } = await add(routeTo(OWN, { configure_carrier }))
      expect([status, body['details']]).toMatchObject([400, [{ path: '/body/configure_carrier' }]])
    }
    expect(await served.administer('GET', ROUTES)).toMatchObject({ count: 0 })
  })
})

describe('the administrator', () => {
  it('gives TELEPHONY_FROM_NUMBER to whom they want', async () => {
    await served.administer('POST', ROUTES, routeTo(INSTALLATIONS))
    const { config } = await served.administer<{ config: object }>('GET', '/tenants/acme')
    expect(config).toMatchObject({ tenant_id: 'acme' })
    expect(await served.administer('GET', ROUTES)).toMatchObject({ phone_routes: [{ phone_number: INSTALLATIONS }] })
  })
})
