import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { killPrograms, startProgram } from './harness/program.ts'
import { type Copy, copyTemplate } from './harness/template.ts'

/** Easy to grep for, and of the shape that real ones have. */
const canary = (n: number) => `canary${n}-${'x'.repeat(24)}`

const ADMIN_API_KEY = canary(1)
/** Wherever a secret can be put in: each is planted once, and none may come out again. */
const PLANTED = {
  admin: ADMIN_API_KEY,
  telephonyEnv: canary(2),
  authToken: canary(3),
  telephony: canary(4),
  telephonySecondary: canary(5),
  webhook: canary(6),
  webhookPrevious: canary(7),
  ticketing: canary(8),
  httpToolHeader: canary(9),
  secondToolHeader: canary(10),
  mcpHeader: canary(11),
  replacedAuthToken: canary(12),
  wrongAdminKey: canary(13),
  wrongBearer: canary(14),
  basic: canary(15),
  query: canary(16),
  brokenBody: canary(17),
  unknownField: canary(18),
  cookie: canary(19),
  foreignToken: canary(20),
  telephonyEnvSecondary: canary(21),
}
const CALLER = '+12025550143'

const DOCUMENT = {
  tenant_id: 'acme',
  auth_token: PLANTED.authToken,
  telephony: {
    account_sid: 'AC00000000000000000000000000000001',
    auth_token: PLANTED.telephony,
    auth_token_secondary: PLANTED.telephonySecondary,
    from_number: CALLER,
  },
  webhook: {
    url: 'https://hooks.example.com/parley',
    secret: PLANTED.webhook,
    secret_previous: PLANTED.webhookPrevious,
  },
  ticketing: { driver: 'generic', base_url: 'https://tickets.example.com', token: PLANTED.ticketing },
  tools: [
    {
      type: 'http',
      name: 'look_up',
      description: 'Looks an order up.',
      parameters: { type: 'object', properties: {} },
      method: 'GET',
      url: 'https://orders.example.com',
      headers: { authorization: PLANTED.httpToolHeader, 'x-second': PLANTED.secondToolHeader },
    },
    { type: 'mcp', name: 'files', url: 'https://mcp.example.com', headers: { authorization: PLANTED.mcpHeader } },
  ],
}

describe('secrets', () => {
  let copy: Copy
  let encryptionKey: string
  let formerKey: string

  beforeAll(async () => {
    copy = await copyTemplate(inject('databaseTemplate'))
    encryptionKey = Buffer.from(canary(0).slice(0, 32)).toString('base64')
    formerKey = Buffer.from(canary(22).slice(0, 32)).toString('base64')
  })

  afterEach(killPrograms)
  afterAll(() => copy.remove())

  it('never leave: twenty-one are planted, and no answer and no log line holds one', async () => {
    const program = startProgram({
      ...copy.settings,
      ADMIN_API_KEY,
      ENCRYPTION_KEY: encryptionKey,
      TELEPHONY_ACCOUNT_SID: 'AC00000000000000000000000000000002',
      ENCRYPTION_KEY_PREVIOUS: formerKey,
      TELEPHONY_AUTH_TOKEN: PLANTED.telephonyEnv,
      TELEPHONY_AUTH_TOKEN_SECONDARY: PLANTED.telephonyEnvSecondary,
      LOG_LEVEL: 'debug',
    })
    const address = await program.listening()
    const answers: string[] = []
    const ask = async (
      method: string,
      path: string,
      init: { body?: string; headers?: Record<string, string> } = {},
    ) => {
      const response = await fetch(`${address}${path}`, {
        method,
        ...init,
        headers: { 'x-admin-key': ADMIN_API_KEY, 'content-type': 'application/json', ...init.headers },
      })
      const text = await response.text()
      answers.push(`${response.status} ${JSON.stringify([...response.headers])} ${text}`)
      return {
        status: response.status,
        body: (text.startsWith('{') ? JSON.parse(text) : {}) as { created?: { token: string } },
      }
    }
    const put = (document: object, path = 'acme') =>
      ask('PUT', `/api/v1/admin/tenants/${path}`, { body: JSON.stringify(document) })

    expect((await put(DOCUMENT)).status).toBe(200)
    expect((await put({ ...DOCUMENT, auth_token: PLANTED.replacedAuthToken })).status).toBe(200)
    const refusals = await Promise.all([
      put({ tenant_id: 'other', auth_token: PLANTED.replacedAuthToken }, 'other'),
      put({ tenant_id: 'other', auth_token: PLANTED.foreignToken, surprise: PLANTED.unknownField }, 'other'),
      put({ tenant_id: 'other', auth_token: 7, telephony: { auth_token: [PLANTED.foreignToken] } }, 'other'),
      ask('PUT', '/api/v1/admin/tenants/other', { body: `{"tenant_id": "${PLANTED.brokenBody}` }),
      ask('GET', '/api/v1/admin/tenants', { headers: { 'x-admin-key': PLANTED.wrongAdminKey } }),
      ask('GET', '/api/v1/admin/tenants', {
        headers: { 'x-admin-key': '', authorization: `Bearer ${PLANTED.wrongBearer}` },
      }),
      ask('GET', '/api/v1/admin/tenants', { headers: { 'x-admin-key': '', authorization: `Basic ${PLANTED.basic}` } }),
      ask('GET', '/api/v1/admin/tenants', { headers: { 'x-admin-key': '', cookie: `parley_admin=${PLANTED.cookie}` } }),
      ask('GET', `/api/v1/admin/tenants?auth_token=${PLANTED.query}`),
      ask('GET', `/api/v1/nowhere/${PLANTED.query}?stream_token=${PLANTED.query}`),
      ask('POST', '/api/v1/admin/tenants/acme/api-keys', {
        body: JSON.stringify({ label: '', token: PLANTED.unknownField }),
      }),
    ])
    expect(refusals.map(({ status }) => status)).toEqual([409, 400, 400, 400, 401, 401, 401, 401, 400, 404, 400])

    for (const path of ['/api/v1/admin/tenants', '/api/v1/admin/tenants/acme', '/health', '/metrics', '/readyz'])
      await ask('GET', path)
    const created = await ask('POST', '/api/v1/admin/tenants/acme/api-keys', { body: JSON.stringify({ label: 'app' }) })
    const token = created.body.created?.token ?? ''
    expect(answers.pop()).toContain(token)
    await ask('GET', '/api/v1/admin/tenants/acme/api-keys')
    await program.end('SIGTERM')

    const logs = program.stdout() + program.stderr()
    const out = answers.join('\n') + logs
    const secrets = {
      ...PLANTED,
      encryptionKey,
      formerKey,
      token,
      tokenSecret: token.slice(12),
      ...databasePassword(copy.settings),
    }
    const leaked = Object.entries(secrets).filter(([, secret]) => out.includes(secret))
    expect(leaked).toEqual([])
    expect(token).toHaveLength(55)
    expect(logs).not.toContain(CALLER)
    expect(logs.split('\n').length).toBeGreaterThan(refusals.length)
  })
})

function databasePassword({ DATABASE_URL }: Record<string, string>): Record<string, string> {
  const password = DATABASE_URL ? new URL(DATABASE_URL).password : ''
  return password.length >= 6 ? { databasePassword: password } : {}
}
