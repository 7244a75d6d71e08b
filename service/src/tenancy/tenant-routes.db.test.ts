import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { useDatabase } from '../../test/harness/database.ts'
import { systemClock } from '../kernel/clock.ts'
import { makeSealer } from '../kernel/seal.ts'
import { adminGuard } from '../platform/http/guards.ts'
import { testServer } from '../platform/http/http.fixture.ts'
import { CANARIES, documents, eraseAtOnce, FULL_DOCUMENT, QUIET } from './tenant-documents.fixture.ts'
import { tenantRoutes } from './tenant-routes.ts'
import { hideSecrets } from './tenant-secrets.ts'
import { makeTenants } from './tenants.ts'

type Method = 'GET' | 'PUT' | 'DELETE'
type Sent = { body?: unknown; headers?: Record<string, string> }

const ADMIN = { 'x-admin-key': 'ak_test_key_of_the_tenant_routes' }
const PATH = '/api/v1/admin/tenants'
const acme = { tenant_id: 'acme', name: 'Acme' }

const test = useDatabase()

async function setUp() {
  const { server, logText } = testServer()
  const tenants = makeTenants({
    db: test.db,
    clock: systemClock,
    sealer: makeSealer(Buffer.alloc(32, 7)),
    defaultTelephonyToken: false,
    onChange: () => {},
  })
  server.addHook('onRequest', adminGuard({ adminKey: ADMIN['x-admin-key'] }))
  await server.register(tenantRoutes(tenants, { calls: QUIET, erasing: eraseAtOnce(() => test.db) }))

  /** An answer, the way it went over the wire. */
  async function call(method: Method, url: string, { body, headers = ADMIN }: Sent = {}) {
    const response = await server.inject({
      method,
      url,
      headers,
      ...(body !== undefined && { payload: body as object }),
    })
    return { status: response.statusCode, etag: response.headers.etag, body: response.json(), text: response.body }
  }
  const put = (body: object, headers: Record<string, string> = {}) =>
    call('PUT', `${PATH}/${'tenant_id' in body ? body.tenant_id : 'acme'}`, { body, headers: { ...ADMIN, ...headers } })
  return { call, put, logText }
}

describe('PUT tenants/:tenant_id', () => {
  it('creates, and answers with the ETag of what was stored', async () => {
    const { put } = await setUp()
    const answer = await put(acme)
    expect(answer).toMatchObject({ status: 200, body: { ok: true, tenant_id: 'acme', etag: answer.etag } })
    expect(answer.etag).toMatch(/^"[0-9a-f]{64}"$/)
    expect(answer.body).not.toHaveProperty('warnings')
    expect((await put(acme)).etag).toBe(answer.etag)
  })

  it('takes a document that has every member', async () => {
    const { put, call } = await setUp()
    expect(await put(FULL_DOCUMENT)).toMatchObject({ status: 200 })
    const { body } = await call('GET', `${PATH}/acme`)
    expect(body.config).toEqual(hideSecrets(FULL_DOCUMENT))
  })

  it('reads back what was put, for any document', async () => {
    const { put, call } = await setUp()
    await fc.assert(
      fc.asyncProperty(documents(), async (document) => {
        expect((await put(document)).status).toBe(200)
        expect((await call('GET', `${PATH}/acme`)).body.config).toEqual(hideSecrets(document))
      }),
      { numRuns: 30 },
    )
  })

  it.each([
    ['If-Match with the ETag', (etag: string) => ({ 'if-match': etag }), 200],
    ['If-Match with a list that has it', (etag: string) => ({ 'if-match': `"other", ${etag}` }), 200],
    ['If-Match with *', () => ({ 'if-match': '*' }), 200],
    ['If-Match with another tag', () => ({ 'if-match': '"other"' }), 412],
    ['If-None-Match with *', () => ({ 'if-none-match': '*' }), 412],
  ])('over a stored document: %s', async (_name, headers, status) => {
    const { put } = await setUp()
    const { etag } = await put(acme)
    const answer = await put({ ...acme, name: 'Acme Inc.' }, headers(String(etag)))
    expect(answer.status).toBe(status)
    if (status === 412) expect(answer.body).toMatchObject({ ok: false, code: 'precondition_failed' })
  })

  it.each([
    ['If-Match with a tag', { 'if-match': '"other"' }, 412],
    ['If-Match with *', { 'if-match': '*' }, 412],
    ['If-None-Match with *', { 'if-none-match': '*' }, 200],
  ])('where nothing is stored: %s', async (_name, headers, status) => {
    const { put, call } = await setUp()
    expect((await put(acme, headers)).status).toBe(status)
    expect((await call('GET', `${PATH}/acme`)).status).toBe(status === 200 ? 200 : 404)
  })

  it.each([
    ['an unknown field', { ...acme, nam: 'Acme' }, '/body/nam'],
    ['an unknown field of an object', { ...acme, limits: { idle: 3 } }, '/body/limits/idle'],
    ['an unknown field of an object that may be null', { ...acme, telephony: { sid: 'x' } }, '/body/telephony/sid'],
    [
      'an unknown field of a tool',
      { ...acme, tools: [{ type: 'mcp', name: 'a', url: 'https://a.example', method: 'GET' }] },
      '/body/tools/0/method',
    ],
    ['no tenant_id', { name: 'Acme' }, '/body/tenant_id'],
    ['a tenant_id at whose address something else is read', { tenant_id: 'cached' }, '/body/tenant_id'],
    ['a number out of bounds', { ...acme, limits: { idle_seconds: 2 } }, '/body/limits/idle_seconds'],
    ['a number that is text', { ...acme, limits: { idle_seconds: '20' } }, '/body/limits/idle_seconds'],
    ['an impossible phone number', { ...acme, telephony: { from_number: '+1202555' } }, '/body/telephony/from_number'],
    ['a time zone that is none', { ...acme, compliance: { timezone: 'Mars' } }, '/body/compliance/timezone'],
    ['a secret to keep where there is none', { ...acme, auth_token: '***' }, '/body/auth_token'],
    ['a text that cannot be stored', { ...acme, name: 'a\0b' }, '/body/name'],
  ])('refuses %s and names it', async (_name, body, path) => {
    const { put } = await setUp()
    const answer = await put(body)
    expect(answer).toMatchObject({ status: 400, body: { ok: false, code: 'invalid_request', details: [{ path }] } })
  })

  it('refuses a document of another tenant than the path names', async () => {
    const { call } = await setUp()
    const answer = await call('PUT', `${PATH}/globex`, { body: acme })
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path: '/body/tenant_id' }] } })
    expect(await call('GET', `${PATH}/globex`)).toMatchObject({ status: 404 })
  })

  it.each([
    ['a legacy token', { auth_token: 'one-legacy-token' }],
    ['a number', { telephony: { from_number: '+12025550101' } }],
  ])('refuses %s that another tenant has, and leaves the other one as it is', async (_name, held) => {
    const { put, call } = await setUp()
    const { etag } = await put({ ...acme, ...held })
    expect(await put({ tenant_id: 'globex', ...held })).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect(await call('GET', `${PATH}/globex`)).toMatchObject({ status: 404 })
    expect((await call('GET', `${PATH}/acme`)).etag).toBe(etag)
  })

  it('warns of a carrier account without a token', async () => {
    const { put } = await setUp()
    const { body } = await put({ ...acme, telephony: { account_sid: 'AC1' } })
    expect(body.warnings).toEqual([expect.stringContaining('TELEPHONY_AUTH_TOKEN')])
  })
})

describe('GET tenants/:tenant_id', () => {
  it('answers the document and its ETag, in the body and as a header', async () => {
    const { put, call } = await setUp()
    const { etag } = await put(acme)
    const answer = await call('GET', `${PATH}/acme`)
    expect(answer).toMatchObject({ status: 200, etag, body: { ok: true, tenant_id: 'acme', config: acme, etag } })
  })

  it('shows a document whose bounds were wider when it was stored', async () => {
    const { put, call } = await setUp()
    await put(acme)
    const document = { ...acme, telephony: { from_number: 'an old way to write it' }, limits: { idle_seconds: 9_999 } }
    await test.db
      .updateTable('tenants')
      .set({ document: JSON.stringify(document) })
      .execute()
    expect((await call('GET', `${PATH}/acme`)).body.config).toEqual(document)
    expect((await call('GET', PATH)).body.tenants[0].config).toEqual(document)
  })

  it.each(['nobody', 'Acme', 'a%2Fb', '%F0%9F%98%80'])('knows no tenant "%s"', async (id) => {
    const { put, call } = await setUp()
    await put(acme)
    expect(await call('GET', `${PATH}/${id}`)).toMatchObject({ status: 404, body: { code: 'not_found' } })
  })
})

describe('GET tenants', () => {
  it('lists tenants newest first, page by page', async () => {
    const { put, call } = await setUp()
    expect((await call('GET', PATH)).body).toEqual({ ok: true, count: 0, tenants: [], next_cursor: null })
    for (const tenant_id of ['one', 'two', 'three']) await put({ tenant_id })
    const first = await call('GET', `${PATH}?limit=2`)
    const second = await call('GET', `${PATH}?limit=2&cursor=${first.body.next_cursor}`)
    const offset = await call('GET', `${PATH}?limit=1&offset=1`)
    expect([first.body.count, second.body.count, second.body.next_cursor]).toEqual([2, 1, null])
    const all = [...first.body.tenants, ...second.body.tenants]
    expect(new Set(all.map((tenant) => tenant.tenant_id))).toEqual(new Set(['one', 'two', 'three']))
    expect(offset.body.tenants).toEqual([all[1]])
    const { body } = await call('GET', `${PATH}/one`)
    expect(all).toContainEqual({ tenant_id: 'one', config: body.config, etag: body.etag })
    expect((await call('GET', `${PATH}?limit=0`)).body).toMatchObject({ count: 0, tenants: [] })
  })

  it.each(['limit=501', 'limit=-1', 'limit=x', 'offset=-1', 'cursor=nonsense', 'colour=blue', 'cursor=x&offset=1'])(
    'refuses ?%s',
    async (query) => {
      const { call } = await setUp()
      expect(await call('GET', `${PATH}?${query}`)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    },
  )
})

describe('DELETE tenants/:tenant_id', () => {
  it('deletes that tenant and no other', async () => {
    const { put, call } = await setUp()
    await put(acme)
    await put({ tenant_id: 'globex' })
    expect(await call('DELETE', `${PATH}/acme`)).toMatchObject({ status: 200, body: { ok: true, tenant_id: 'acme' } })
    expect(await call('DELETE', `${PATH}/acme`)).toMatchObject({ status: 404, body: { code: 'not_found' } })
    expect(await call('GET', `${PATH}/globex`)).toMatchObject({ status: 200 })
  })

  it.each(['', '?force=true'])('deletes only the document that If-Match names: %s', async (query) => {
    const { put, call } = await setUp()
    const { etag: read } = await put(acme)
    const { etag: changed } = await put({ ...acme, name: 'Changed meanwhile' })
    const remove = (etag: unknown) =>
      call('DELETE', `${PATH}/acme${query}`, { headers: { ...ADMIN, 'if-match': String(etag) } })
    expect(await remove(read)).toMatchObject({ status: 412, body: { code: 'precondition_failed' } })
    expect(await call('GET', `${PATH}/acme`)).toMatchObject({ status: 200 })
    expect(await remove(changed)).toMatchObject({ status: 200 })
  })

  it('takes everything of the tenant along', async () => {
    const { put, call } = await setUp()
    await put(acme)
    await fillWithRows('acme')
    expect(await call('DELETE', `${PATH}/acme`)).toMatchObject({ status: 200 })
    const tables = [
      'api_keys',
      'api_key_prefixes',
      'agents',
      'agent_versions',
      'phone_routes',
      'phone_numbers',
    ] as const
    for (const table of tables) expect(await test.db.selectFrom(table).selectAll().execute()).toEqual([])
  })
})

describe('every tenant route', () => {
  const routes: [Method, string][] = [
    ['GET', PATH],
    ['GET', `${PATH}/acme`],
    ['PUT', `${PATH}/acme`],
    ['DELETE', `${PATH}/acme`],
  ]

  it.each(routes)('refuses %s %s without the admin key, whatever is sent', async (method, url) => {
    const { put, call } = await setUp()
    await put(acme)
    for (const headers of [{}, { 'x-admin-key': 'wrong' }, { authorization: 'Bearer one-legacy-token' }]) {
      const answer = await call(method, url, { headers, ...(method === 'PUT' && { body: { nonsense: 1 } }) })
      expect(answer).toMatchObject({ status: 401, body: { ok: false, code: 'unauthorized' } })
    }
    expect(await call('GET', `${PATH}/acme`)).toMatchObject({ status: 200 })
  })

  it('lets no secret out, in an answer or in the log', async () => {
    const { put, call, logText } = await setUp()
    const answers = [
      await put(FULL_DOCUMENT),
      await put({ ...FULL_DOCUMENT, tenant_id: 'globex' }),
      await put({ ...FULL_DOCUMENT, transfer_targets: ['nonsense'] }),
      await put({ ...FULL_DOCUMENT, compliance: { timezone: 'Mars' } }),
      await put({ ...FULL_DOCUMENT, auth_token: { secret: CANARIES.authToken } }),
      await put(FULL_DOCUMENT, { 'if-match': '"other"' }),
      await call('GET', PATH),
      await call('GET', `${PATH}/acme`),
      await call('DELETE', `${PATH}/acme`),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 409, 400, 400, 400, 412, 200, 200, 200])
    const seen = answers.map(({ text }) => text).join('\n') + logText()
    expect(logText()).not.toBe('')
    for (const canary of Object.values(CANARIES)) expect(seen).not.toContain(canary)
  })
})

/** One row of the tenant's in each table that tenants have. */
async function fillWithRows(tenantId: string): Promise<void> {
  const ids = { tenant_id: tenantId, id: '0190a000-0000-7000-8000-000000000001' }
  const instant = new Date()
  const times = { created_at: instant, updated_at: instant }
  const agent = { ...ids, ...times, agent_key: 'front', name: 'Front', description: '' }
  const version = { ...ids, ...times, agent_id: ids.id, version_number: 1, status: 'draft', config: '{}' }
  const route = { phone_number: '+12025550101', agent_key: 'front', label: '', inbound_enabled: true }
  const key = { ...ids, key_prefix: 'pk_aaaaaaaa', label: 'key', secret_hash: Buffer.alloc(32), created_at: instant }
  const rows: [string, object][] = [
    ['agents', agent],
    ['agent_versions', version],
    ['phone_routes', { ...ids, ...times, ...route, outbound_default: true }],
    ['phone_numbers', { tenant_id: tenantId, phone_number: '+12025550101', by_document: false, by_route: true }],
    ['api_keys', key],
    ['api_key_prefixes', { tenant_id: tenantId, key_prefix: 'pk_aaaaaaaa', key_id: ids.id }],
  ]
  for (const [table, row] of rows) {
    await test.db
      .insertInto(table as 'agents')
      .values(row as never)
      .execute()
  }
}
