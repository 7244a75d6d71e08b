import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Browser } from './harness/browser.ts'
import { useDatabase } from './harness/database.ts'
import { ServedApp } from './harness/served-app.ts'

const test = useDatabase()
const PASSWORD = 'a long enough password'
const ADMIN_KEY = 'ak_key_of_the_served_app_tests'
const [OURS, THEIRS] = ['+12025550150', '+12025550151']

let served: ServedApp
beforeAll(async () => {
  served = await ServedApp.start(test, { settings: { ADMIN_USERNAME: 'ada', ADMIN_PASSWORD: PASSWORD } })
})
afterAll(() => served.app.close())
beforeEach(async () => {
  await served.furnish('acme', { number: '+12025550140' })
  await served.furnish('globex', { number: '+12025550141' })
  await served.call('acme', 'POST', '/dnc', { phone: OURS })
  await served.call('globex', 'POST', '/dnc', { phone: THEIRS })
})

const forTenant = (tenant: string, headers: Record<string, string> = {}) => ({
  headers: { ...headers, 'x-tenant-id': tenant },
})

async function loggedIn(name: string): Promise<Browser> {
  const browser = new Browser(served)
  expect((await browser.login(name, PASSWORD)).status).toBe(200)
  return browser
}

async function person(role: string): Promise<Browser> {
  const email = `${role}@acme.example`
  await served.administer('POST', '/tenants/acme/users', { email, role, name: 'Grace', password: PASSWORD })
  return loggedIn(email)
}

type Acts = { entries: { actor: string; after: unknown }[] }
const acts = () => served.administer<Acts>('GET', '/audit-log?action=tenant.acted_for')

describe('an administrator', () => {
  it('reads what is of the tenant that they name, by their session or by the key', async () => {
    const browser = await loggedIn('ada')
    const stranger = new Browser(served)
    const key = { 'x-admin-key': ADMIN_KEY }
    for (const [tenant, phone] of [
      ['acme', OURS],
      ['globex', THEIRS],
    ] as const) {
      const seen = { status: 200, body: { count: 1, entries: [{ phone }] } }
      expect(await browser.call('GET', '/dnc', forTenant(tenant))).toMatchObject(seen)
      expect(await stranger.call('GET', '/dnc', forTenant(tenant, key))).toMatchObject(seen)
    }
    expect((await acts()).entries).toEqual([])
  })

  it('changes it, which is written down beforehand', async () => {
    const browser = await loggedIn('ada')
    const body = { phone: '+12025550152' }
    expect((await browser.call('POST', '/dnc', { body, ...forTenant('acme') })).status).toBe(200)
    const removed = `/dnc/${encodeURIComponent('+12025550199')}`
    expect((await browser.call('DELETE', removed, forTenant('globex'))).status).toBe(404)
    const { entries } = await served.administer<Acts>('GET', '/audit-log?action=tenant.acted_for&tenant_id=acme')
    expect(entries).toMatchObject([{ actor: 'ada', after: { method: 'POST', path: '/api/v1/dnc' } }])
    expect((await acts()).entries).toHaveLength(2)
    expect(await browser.call('GET', '/dnc', forTenant('globex'))).toMatchObject({ body: { count: 1 } })
  })

  it('is refused what is not sound before anything is written down', async () => {
    const browser = await loggedIn('ada')
    expect((await browser.call('POST', '/dnc', { body: {}, ...forTenant('acme') })).status).toBe(400)
    const foreign = { body: { phone: '+12025550152' }, origin: 'https://evil.example', ...forTenant('acme') }
    expect((await browser.call('POST', '/dnc', foreign)).status).toBe(403)
    expect((await acts()).entries).toEqual([])
  })

  it('has to name a tenant, and one that there is', async () => {
    const browser = await loggedIn('ada')
    expect(await browser.call('GET', '/dnc')).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    for (const name of ['initech', '', 'ACME', 'acme, globex', "' or true"]) {
      expect([name, (await browser.call('GET', '/dnc', forTenant(name))).status]).toEqual([name, 404])
    }
  })

  it('does not use up what a tenant may ask in a minute', async () => {
    await served.furnish('initech', { number: '+12025550142', document: { limits: { requests_per_minute: 2 } } })
    const browser = await loggedIn('ada')
    for (let asked = 0; asked < 5; asked += 1)
      expect((await browser.call('GET', '/dnc', forTenant('initech'))).status).toBe(200)
    expect((await served.call('initech', 'GET', '/dnc')).status).toBe(200)
  })
})

describe('nobody else', () => {
  it('is another tenant by naming it: a token is that of its tenant', async () => {
    const authorization = `Bearer ${served.tokenOf('acme')}`
    const seen = await new Browser(served).call('GET', '/dnc', forTenant('globex', { authorization }))
    expect(seen).toMatchObject({ status: 200, body: { entries: [{ phone: OURS }] } })
    const beside = { authorization, 'x-admin-key': ADMIN_KEY }
    const both = await new Browser(served).call('GET', '/dnc', forTenant('globex', beside))
    expect(both).toMatchObject({ status: 200, body: { entries: [{ phone: OURS }] } })
    const wrong = { authorization: 'Bearer pk_unknown', 'x-admin-key': ADMIN_KEY }
    expect((await new Browser(served).call('GET', '/dnc', forTenant('acme', wrong))).status).toBe(401)
  })

  it.each(['viewer', 'admin'])('is let into another tenant as a %s; naming their own changes nothing', async (role) => {
    const browser = await person(role)
    expect((await browser.call('GET', '/dnc', forTenant('globex'))).status).toBe(403)
    const own = await browser.call('GET', '/dnc', forTenant('acme'))
    expect(own).toMatchObject({ status: 200, body: { entries: [{ phone: OURS }] } })
    const body = { phone: '+12025550152' }
    const written = await browser.call('POST', '/dnc', { body, ...forTenant('acme') })
    expect(written.status).toBe(role === 'admin' ? 200 : 403)
    expect((await acts()).entries).toEqual([])
  })

  it('is let in without a credential, or with a wrong key', async () => {
    const stranger = new Browser(served)
    expect((await stranger.call('GET', '/dnc', forTenant('acme'))).status).toBe(401)
    for (const key of ['ak_wrong', '', served.tokenOf('acme')]) {
      expect((await stranger.call('GET', '/dnc', forTenant('acme', { 'x-admin-key': key }))).status).toBe(401)
    }
    // The key alone is of no tenant.
    expect((await stranger.call('GET', '/dnc', { headers: { 'x-admin-key': ADMIN_KEY } })).status).toBe(401)
  })
})
