import { beforeEach, describe, expect, it } from 'vitest'
import { useAdminServer } from '../../test/harness/admin-server.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { systemClock } from '../kernel/clock.ts'
import { makeSealer } from '../kernel/seal.ts'
import { runtimeConfigRoutes } from './runtime-config-routes.ts'
import { CANARIES, eraseAtOnce, FULL_DOCUMENT, QUIET } from './tenant-documents.fixture.ts'
import { tenantRoutes } from './tenant-routes.ts'
import { makeTenantValidation } from './tenant-validation.ts'
import { makeTenants } from './tenants.ts'

const test = useDatabase()
const sealer = makeSealer(Buffer.alloc(32, 7))
const telephony = { account_sid: null, auth_token: null, from_number: null }
const changed: string[] = []

const admin = useAdminServer(() => {
  const { db } = test
  const onChange = (tenantId: string) => void changed.push(tenantId)
  const tenants = makeTenants({ db, clock: systemClock, sealer, defaultTelephonyToken: false, onChange })
  const removal = { calls: QUIET, erasing: eraseAtOnce(() => db) }
  return [tenantRoutes(tenants, removal), runtimeConfigRoutes(tenants, makeTenantValidation({ db, sealer, telephony }))]
})

const put = (id: string, document: Record<string, unknown> = {}) =>
  admin.call<{ etag: string }>('PUT', `/tenants/${id}`, { body: { ...document, tenant_id: id } })

beforeEach(() => {
  changed.length = 0
})

describe('POST tenants/validate', () => {
  const validate = (body: unknown) => admin.call('POST', '/tenants/validate', { body })

  it('says what would run, with every default and no secret', async () => {
    const { status, body } = await validate(FULL_DOCUMENT)
    expect([status, body]).toEqual([
      200,
      { ok: true, error: null, runtime: expect.objectContaining({ limits: expect.anything() }) },
    ])
    for (const secret of Object.values(CANARIES)) expect(JSON.stringify(body)).not.toContain(secret)
    expect(JSON.stringify(body)).not.toContain('auth_token')
    expect(await validate({ tenant_id: 'small' })).toMatchObject({
      status: 200,
      body: {
        ok: true,
        runtime: { limits: { max_call_seconds: 1800, idle_seconds: 30 }, telephony: { provider: 'twilio' } },
      },
    })
  })

  it.each([
    ['an unknown field', { tenant_id: 'acme', colour: 'red' }, 'colour is not a known field: there are tenant_id, '],
    ['no tenant_id', {}, 'tenant_id is required.'],
    ['a wrong value', { tenant_id: 'acme', limits: { idle_seconds: 1 } }, 'limits.idle_seconds must be at least 3.'],
    [
      'what a schema cannot tell',
      { tenant_id: 'acme', compliance: { timezone: 'Nowhere/X' } },
      'compliance.timezone must be',
    ],
    ['NUL', { tenant_id: 'acme', name: '\0' }, 'name must not hold NUL'],
    ['half a character', { tenant_id: 'acme', agent: { greeting: '\ud800' } }, 'agent.greeting must not hold NUL'],
    ['nesting without end', { tenant_id: 'acme', tools: JSON.parse('['.repeat(99) + ']'.repeat(99)) }, 'nested more'],
    [
      'a secret that nobody stored',
      { tenant_id: 'acme', auth_token: '***' },
      'auth_token has no stored secret to keep',
    ],
  ])('names %s', async (_what, document, error) => {
    const answer = await validate(document)
    expect(answer).toMatchObject({
      status: 200,
      body: { ok: false, error: expect.stringContaining(error), runtime: null },
    })
  })

  it('takes the stored secret for what reads ***, and writes nothing', async () => {
    await put('acme', { auth_token: 'a-bearer-token-of-acme' })
    changed.length = 0
    expect(await validate({ tenant_id: 'acme', auth_token: '***' })).toMatchObject({ body: { ok: true } })
    expect(changed).toEqual([])
  })

  it('says each fault where there are several, which a PUT lists beside its sentence', async () => {
    const document = { tenant_id: 'acme', colour: 'red', limits: { idle_seconds: 1 } }
    const { body } = await admin.call<{ error: string }>('POST', '/tenants/validate', { body: document })
    const { body: refused } = await admin.call<{ details: unknown[] }>('PUT', '/tenants/acme', { body: document })
    const error = expect.stringMatching(/^colour [^.]+\. limits\.idle_seconds [^.]+\.$/)
    expect(body).toEqual({ ok: false, runtime: null, error })
    expect(refused.details).toHaveLength(2)
  })

  it.each([[[]], ['text'], [7]])('refuses a body that is no object: %j', async (body) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await admin.call('POST', '/tenants/validate', { body: JSON.stringify(body), headers })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  })
})

describe('runtime-config', () => {
  const PATH = '/tenants/acme/runtime-config'
  const NOTHING = {
    model: null,
    voice: null,
    system_prompt_key: null,
    telephony: null,
    audio_output: null,
    webhook_url: null,
  }

  it('is empty for a document that sets nothing of it, and has its ETag', async () => {
    const { body } = await put('acme')
    expect(await admin.call('GET', PATH)).toEqual({
      status: 200,
      body: { ok: true, tenant_id: 'acme', runtime_config: NOTHING, etag: body.etag },
    })
  })

  it('is merged into the document, member by member', async () => {
    await put('acme', {
      name: 'Acme',
      model: 'old',
      telephony: { account_sid: 'AC1', auth_token: 'secret-of-acme', from_number: '+12025550100' },
      webhook: { url: 'https://old.example.com', secret: 'a-secret-of-sixteen' },
    })
    const body = {
      voice: 'marin',
      telephony: { fallback_number: '+12025550101' },
      webhook_url: 'https://new.example.com',
    }
    const answer = await admin.call<{ etag: string }>('PUT', PATH, { body })
    expect(answer).toMatchObject({
      status: 200,
      body: {
        tenant_id: 'acme',
        runtime_config: {
          ...{ model: 'old', voice: 'marin', webhook_url: 'https://new.example.com' },
          telephony: {
            account_sid: 'AC1',
            auth_token: '***',
            from_number: '+12025550100',
            fallback_number: '+12025550101',
          },
        },
      },
    })
    expect(changed).toEqual(['acme', 'acme'])
    const tenant = await admin.call('GET', '/tenants/acme')
    expect(tenant).toMatchObject({
      body: {
        etag: answer.body.etag,
        config: { name: 'Acme', webhook: { url: 'https://new.example.com', secret: '***' } },
      },
    })
    expect((await admin.call('GET', PATH)).body).toEqual(answer.body)
  })

  it('warns as a whole document does of what was taken and will hardly work', async () => {
    await put('acme')
    const written = async (body: Record<string, unknown>) =>
      (await admin.call<{ warnings?: string[] }>('PUT', PATH, { body })).body.warnings
    expect(await written({ voice: 'marin' })).toBeUndefined()
    const unsigned = expect.stringContaining('webhook.secret is not set')
    expect(await written({ webhook_url: 'https://hooks.example.com' })).toEqual([unsigned])
    const unverified = expect.stringContaining('TELEPHONY_AUTH_TOKEN')
    expect(await written({ telephony: { account_sid: 'AC1' } })).toEqual([unverified, unsigned])
    expect(await written({ webhook_url: null, telephony: { auth_token: 'token-of-acme' } })).toBeUndefined()
  })

  it('puts nobody through to a number that is never called', async () => {
    await put('acme', { name: 'Acme' })
    const body = { telephony: { fallback_number: '+19005550100' } }
    const error = 'telephony.fallback_number is a premium-rate number, and those are never called.'
    expect(await admin.call('PUT', PATH, { body })).toMatchObject({ status: 400, body: { error } })
  })

  it('takes away what is null, and takes back what it gave', async () => {
    await put('acme', {
      model: 'old',
      audio_output: { provider: 'secondary' },
      webhook: { url: 'https://old.example.com' },
    })
    const { body } = await admin.call<{ runtime_config: unknown }>('GET', PATH)
    expect(await admin.call('PUT', PATH, { body: body.runtime_config })).toMatchObject({ status: 200, body })
    const gone = { model: null, audio_output: null, webhook_url: null }
    expect(await admin.call('PUT', PATH, { body: gone })).toMatchObject({ body: { runtime_config: NOTHING } })
  })

  it('is written only over the document of If-Match', async () => {
    const { body } = await put('acme')
    const write = (voice: string, tag: string) =>
      admin.call('PUT', PATH, { body: { voice }, headers: { 'if-match': tag } })
    expect(await write('marin', body.etag)).toMatchObject({ status: 200 })
    expect(await write('cedar', body.etag)).toMatchObject({ status: 412, body: { code: 'precondition_failed' } })
    expect(await admin.call('GET', PATH)).toMatchObject({ body: { runtime_config: { voice: 'marin' } } })
  })

  it.each(['"some-tag"', '*'])('is not written over the document %s of a tenant that there is not', async (tag) => {
    const headers = { 'if-match': tag }
    const answer = await admin.call('PUT', '/tenants/nobody/runtime-config', { body: {}, headers })
    expect(answer).toMatchObject({ status: 412, body: { code: 'precondition_failed' } })
  })

  it.each([
    ['an unknown field', { name: 'Acme' }, '/body/name'],
    ['an address that is none', { webhook_url: 'ftp://x' }, '/body/webhook_url'],
    ['a wrong number', { telephony: { from_number: '12' } }, '/body/telephony/from_number'],
    ['a credential with a space', { telephony: { auth_token: 'a b' } }, '/body/telephony/auth_token'],
  ])('refuses %s and names it', async (_what, body, path) => {
    await put('acme')
    expect(await admin.call('PUT', PATH, { body })).toMatchObject({ status: 400, body: { details: [{ path }] } })
  })

  it('refuses the number of another tenant', async () => {
    await put('globex', { telephony: { from_number: '+12025550100' } })
    await put('acme')
    const body = { telephony: { from_number: '+12025550100' } }
    expect(await admin.call('PUT', PATH, { body })).toMatchObject({ status: 409 })
  })

  it('knows no tenant that there is not', async () => {
    expect(await admin.call('GET', '/tenants/nobody/runtime-config')).toMatchObject({ status: 404 })
    expect(await admin.call('PUT', '/tenants/nobody/runtime-config', { body: {} })).toMatchObject({ status: 404 })
  })
})

it.each([
  ['POST', '/tenants/validate'],
  ['GET', '/tenants/acme/runtime-config'],
  ['PUT', '/tenants/acme/runtime-config'],
] as const)('nobody without the admin key may %s %s', async (method, path) => {
  expect(await admin.call(method, path, { adminKey: null, body: {} })).toMatchObject({ status: 401 })
})
