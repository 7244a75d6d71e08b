import { beforeEach, describe, expect, it } from 'vitest'
import { useAdminServer } from '../../test/harness/admin-server.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { someInstant, someText, someUuid } from '../../test/harness/matchers.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { systemClock } from '../kernel/clock.ts'
import { apiKeyRoutes } from './api-key-routes.ts'
import { makeApiKeys } from './api-keys.ts'

type Created = { created: { api_key: { id: string; key_prefix: string }; token: string } }

const UNKNOWN_ID = '0190a000-0000-7000-8000-000000000000'
const test = useDatabase()
const admin = useAdminServer(() => [
  apiKeyRoutes(makeApiKeys({ db: test.db, clock: systemClock, onRevoked: () => {} })),
])

beforeEach(async () => {
  await makeTenant(test.db, 'acme')
  await makeTenant(test.db, 'globex')
})

async function createKey(tenant: string): Promise<Created['created']> {
  const { body } = await admin.call<Created>('POST', `/tenants/${tenant}/api-keys`, { body: { label: 'shop' } })
  return body.created
}

describe('POST api-keys', () => {
  it('answers the key and, this once, its token', async () => {
    const answer = await admin.call('POST', '/tenants/acme/api-keys', { body: { label: 'shop' } })
    expect(answer).toEqual({
      status: 200,
      body: {
        ok: true,
        created: {
          api_key: {
            id: someUuid,
            key_prefix: someText(/^pk_[0-9a-z]{8}$/),
            label: 'shop',
            created_at: someInstant,
            last_used_at: null,
            revoked_at: null,
          },
          token: someText(/^pk_[0-9a-z]{8}_[A-Za-z0-9_-]{43}$/),
        },
      },
    })
  })

  it.each([
    ['no label', {}, '/body/label'],
    ['an empty label', { label: '' }, '/body/label'],
    ['a label of blanks', { label: ' \t ' }, '/body/label'],
    ['a label of 201 characters', { label: 'x'.repeat(201) }, '/body/label'],
    ['a label that is no text', { label: 7 }, '/body/label'],
    ['a label with a NUL', { label: 'a\0b' }, '/body/label'],
    ['an unknown field', { label: 'shop', scope: 'all' }, '/body/scope'],
  ])('refuses %s and names it', async (_what, body, path) => {
    const answer = await admin.call('POST', '/tenants/acme/api-keys', { body })
    expect(answer).toMatchObject({ status: 400, body: { ok: false, code: 'invalid_request', details: [{ path }] } })
  })

  it('knows no unknown tenant', async () => {
    const answer = await admin.call('POST', '/tenants/nobody/api-keys', { body: { label: 'shop' } })
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } })
  })
})

describe('GET api-keys', () => {
  it("lists the tenant's keys without their secrets, revoked ones too", async () => {
    const { api_key, token } = await createKey('acme')
    await createKey('globex')
    await admin.call('DELETE', `/tenants/acme/api-keys/${api_key.id}`)
    const { status, body } = await admin.call<{ api_keys: unknown[] }>('GET', '/tenants/acme/api-keys')
    expect({ status, body }).toMatchObject({ status: 200, body: { ok: true, count: 1, next_cursor: null } })
    expect(body.api_keys).toEqual([{ ...api_key, revoked_at: someInstant }])
    expect(JSON.stringify(body)).not.toContain(token.slice(12))
  })

  it('goes on where a cursor says', async () => {
    for (let count = 0; count < 3; count += 1) await createKey('acme')
    type List = { api_keys: { id: string }[]; next_cursor: string | null }
    const first = await admin.call<List>('GET', '/tenants/acme/api-keys?limit=2')
    const second = await admin.call<List>('GET', `/tenants/acme/api-keys?limit=2&cursor=${first.body.next_cursor}`)
    const ids = [...first.body.api_keys, ...second.body.api_keys].map(({ id }) => id)
    expect([new Set(ids).size, second.body.next_cursor]).toEqual([3, null])
  })

  it.each([
    'limit=501',
    'limit=x',
    'cursor=nonsense',
    'colour=blue',
    // The cursor of a list whose ids are no UUIDs, and one of a year that no calendar has.
    `cursor=${Buffer.from('1700000000000 acme').toString('base64url')}`,
    `cursor=${Buffer.from(`999999999999999 ${UNKNOWN_ID}`).toString('base64url')}`,
  ])('refuses ?%s', async (query) => {
    expect(await admin.call('GET', `/tenants/acme/api-keys?${query}`)).toMatchObject({ status: 400 })
  })

  it('knows no unknown tenant', async () => {
    expect(await admin.call('GET', '/tenants/nobody/api-keys')).toMatchObject({ status: 404 })
  })
})

describe('DELETE api-keys/:key_id', () => {
  it('is in the audit log by the id of the key, in whatever letters that was sent', async () => {
    const { api_key } = await createKey('acme')
    await admin.call('DELETE', `/tenants/acme/api-keys/${api_key.id.toUpperCase()}`)
    const entries = await test.db.selectFrom('audit_log').select(['action', 'target_id']).orderBy('id').execute()
    expect(entries).toEqual(['api_key.created', 'api_key.revoked'].map((action) => ({ action, target_id: api_key.id })))
  })

  it('revokes the key, and answers the same when it is repeated', async () => {
    const { api_key } = await createKey('acme')
    const first = await admin.call('DELETE', `/tenants/acme/api-keys/${api_key.id}`)
    expect(first).toEqual({ status: 200, body: { ok: true, api_key: { ...api_key, revoked_at: someInstant } } })
    expect(await admin.call('DELETE', `/tenants/acme/api-keys/${api_key.id}`)).toEqual(first)
  })

  it("does not reach another tenant's key", async () => {
    const { api_key } = await createKey('globex')
    expect(await admin.call('DELETE', `/tenants/acme/api-keys/${api_key.id}`)).toMatchObject({ status: 404 })
    const { body } = await admin.call('GET', '/tenants/globex/api-keys')
    expect(body).toMatchObject({ api_keys: [{ id: api_key.id, revoked_at: null }] })
  })

  it.each([
    [404, 'an unknown key', `/tenants/acme/api-keys/${UNKNOWN_ID}`],
    [404, 'an unknown tenant', `/tenants/nobody/api-keys/${UNKNOWN_ID}`],
    [400, 'an id that is no UUID', '/tenants/acme/api-keys/first'],
  ])('answers %i for %s', async (status, _what, path) => {
    expect(await admin.call('DELETE', path)).toMatchObject({ status, body: { ok: false } })
  })
})

describe('the API key routes', () => {
  it.each([
    ['GET', '/tenants/acme/api-keys'],
    ['POST', '/tenants/acme/api-keys'],
    ['DELETE', `/tenants/acme/api-keys/${UNKNOWN_ID}`],
  ] as const)('let nobody without the admin key %s', async (method, path) => {
    for (const adminKey of [null, 'wrong']) {
      expect(await admin.call(method, path, { adminKey })).toMatchObject({
        status: 401,
        body: { code: 'unauthorized' },
      })
    }
  })
})
