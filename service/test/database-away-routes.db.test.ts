import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { registeredRoutes } from '../src/platform/http/registered-routes.ts'
import { ROLE_TABLE, routeKey } from '../src/role-table.ts'
import { CALLER, NUMBER } from './harness/call-app.ts'
import { sign } from './harness/carrier-signature.ts'
import { useDatabase } from './harness/database.ts'
import { useProxiedDatabase } from './harness/proxied-database.ts'
import { ACCOUNT, ServedApp } from './harness/served-app.ts'
import { until } from './harness/wait.ts'

const ADMIN = '/api/v1/admin'
const TENANT = `${ADMIN}/tenants/:tenant_id`
const UUID = '0190a000-0000-7000-8000-000000000000'
const PASSWORD = 'a long enough password'
const ROUTE = { phone_number: '+12025550177', agent_key: 'desk' }
const POLICY = { enabled: true, lookback_hours: 24, min_avg_score: 0.7, min_eval_count: 20, min_high_quality_rate: 0.6 }

/** What tells of this node alone, or of the settings, and of nothing that is stored. */
const NEEDS_NONE = new Set([
  ...['GET /', 'GET /docs', 'GET /docs/:page', 'GET /getting-started', 'GET /swagger-ui', 'GET /page-assets/:file'],
  ...['GET /app', 'GET /app/*'],
  ...['GET /api-docs/public.json', 'GET /api-docs/admin.json', 'GET /api-docs/openapi.json'],
  // The address names the node that knows, if it names any.
  ...['POST /api/v1/transfers/:token', 'POST /api/v1/transfers/:token/keys', 'POST /api/v1/transfers/:token/status'],
  ...['GET /livez', 'GET /metrics', 'GET /media-stream', 'GET /media-stream/:token', 'GET /logs'],
  ...[`POST ${ADMIN}/auth/logout`, `GET ${ADMIN}/auth/session`],
  // Where no identity provider is set, there is none.
  ...[`GET ${ADMIN}/auth/sso/start`, `GET ${ADMIN}/auth/sso/callback`],
  ...[`GET ${ADMIN}/auth/transport`, `GET ${ADMIN}/alerts/auth-transport`],
  ...[`GET ${ADMIN}/tenants/cached`, `GET ${ADMIN}/tenants/cache-metrics`, `GET ${ADMIN}/tenants/audio-providers`],
  ...[`GET ${ADMIN}/tenants/cache-metrics/by-token`, `POST ${ADMIN}/tenants/evict-idle`],
  // Tells of each tenant that it could not be read.
  `POST ${ADMIN}/tenants/reload-cached`,
])

/** What probes ask for: they come again anyway. */
const PROBES = new Set(['GET /readyz', 'GET /health'])

/** What a carrier asks for, and is answered. */
const ALWAYS = new Set(['POST /api/v1/incoming-call', 'POST /api/v1/call-resume', 'POST /api/v1/call-resume/:dial_ref'])
const FORMS = new Set([...ALWAYS, 'POST /api/v1/call-status', 'POST /api/v1/call-status/:dial_ref'])

/** Sound bodies: what is wrong with a request is told before the database is asked. */
const BODIES: Record<string, unknown> = {
  'POST /api/v1/access-requests': {
    ...{ company_name: 'Acme', contact_name: 'Ann', work_email: 'ann@acme.example', use_case: 'Calls' },
  },
  'POST /api/v1/erasures': { phone: '+12025550142' },
  [`POST ${ADMIN}/auth/login`]: { username: 'ann@acme.example', password: PASSWORD },
  [`POST ${ADMIN}/auth/invitation`]: { token: 'x'.repeat(43), password: PASSWORD },
  [`PUT ${TENANT}`]: { tenant_id: 'acme', name: 'Acme' },
  [`PUT ${TENANT}/runtime-config`]: { voice: 'cedar' },
  [`POST ${ADMIN}/tenants/validate`]: { tenant_id: 'acme' },
  [`POST ${TENANT}/users`]: { email: 'ann@acme.example', role: 'admin' },
  [`PATCH ${TENANT}/users/:user_id`]: { name: 'Ann' },
  [`POST ${TENANT}/api-keys`]: { label: 'x' },
  [`POST ${TENANT}/agents`]: { agent_key: 'other', name: 'Other', description: '' },
  [`PATCH ${TENANT}/agents/:agent_id`]: { name: 'Other' },
  [`POST ${TENANT}/agent-versions`]: { agent_id: UUID, config: {} },
  [`PATCH ${TENANT}/agent-versions/:version_id`]: { config: {} },
  [`POST ${TENANT}/phone-routes`]: ROUTE,
  [`PUT ${TENANT}/phone-routes/:route_id`]: ROUTE,
  [`PUT ${TENANT}/agents/:agent_id/rollouts`]: { entries: [] },
  [`PUT ${TENANT}/agents/:agent_id/rollout-policy`]: POLICY,
  [`POST ${TENANT}/agents/:agent_id/rollout-governance/evaluate`]: { apply: true },
  [`POST ${ADMIN}/rollout-governance/sweep`]: { apply: true },
  [`POST ${TENANT}/webhook-deliveries`]: { ids: [UUID] },
  [`PUT ${TENANT}/operator-queues/:queue_key`]: {},
  [`PATCH ${ADMIN}/api-access-requests/:id`]: { status: 'approved' },
  [`PUT ${ADMIN}/prompts/:key`]: { text: 'Be brief.' },
}

/** On a server: behind a wire that the test cuts. */
describe.runIf(inject('databaseTemplate').kind === 'server')('while the database is away', () => {
  const test = useDatabase()
  const wire = useProxiedDatabase(test)
  let served: ServedApp

  beforeEach(async () => {
    const settings = { ADMIN_USERNAME: 'ada', ADMIN_PASSWORD: PASSWORD, BILLING_WEBHOOK_URL: 'https://billing.example' }
    served = await ServedApp.start(test, { database: await wire.open(), settings })
    await served.furnish('acme', { number: NUMBER })
    await wire.proxy.cut()
    await until(async () => (await served.call('acme', 'GET', '/call-logs')).status === 503, {
      what: 'the loss to be seen',
    })
  })
  afterEach(async () => {
    await wire.proxy.mend()
    await served.app.close()
  })

  async function ask(key: string, method: string, url: string) {
    const ids: Record<string, string> = { ':tenant_id': 'acme', ':phone': '%2B12025550177', ':queue_key': 'default' }
    const path = url.replace(/:[a-z_]+/g, (name) => ids[name] ?? UUID)
    const form = { CallSid: 'CA7', AccountSid: ACCOUNT.sid, From: CALLER, To: NUMBER, CallStatus: 'completed' }
    const headers: Record<string, string> = url.startsWith(ADMIN)
      ? { 'x-admin-key': 'ak_key_of_the_served_app_tests' }
      : { authorization: `Bearer ${served.tokenOf('acme')}` }
    if (FORMS.has(key)) {
      headers['x-twilio-signature'] = sign(served.app.publicUrl() + path, form, ACCOUNT.token)
      return fetch(served.address + path, { method, headers, body: new URLSearchParams(form) })
    }
    const body = BODIES[key]
    if (body !== undefined) headers['content-type'] = 'application/json'
    return fetch(served.address + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  }

  it('every route says so and when to come again, but for what a carrier asks for and what needs none', {
    timeout: 120_000,
  }, async () => {
    for (const key of [...NEEDS_NONE, ...FORMS, ...Object.keys(BODIES)]) expect(ROLE_TABLE).toHaveProperty([key])
    const others: unknown[] = []
    for (const { method, url } of registeredRoutes(served.app.server)) {
      const key = routeKey(method, url)
      const answer = await ask(key, method, url)
      const isAsMeant = NEEDS_NONE.has(key)
        ? answer.status < 500
        : ALWAYS.has(key)
          ? answer.status === 200 && (await answer.text()).startsWith('<?xml')
          : answer.status === 503 && (PROBES.has(key) || answer.headers.get('retry-after') === '5')
      if (!isAsMeant) others.push([method, url, answer.status])
    }
    expect(others).toEqual([])
  })
})
