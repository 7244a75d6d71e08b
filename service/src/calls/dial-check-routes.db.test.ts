import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenantWithToken, useTenantServer } from '../../test/harness/tenant-server.ts'
import { makeAgentVersions } from '../agents/agent-versions.ts'
import { makeAgents } from '../agents/agents.ts'
import { makeResolveAgent } from '../agents/resolve.ts'
import { THE_SYSTEM } from '../kernel/actor.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { makeDoNotCall } from '../operators/do-not-call.ts'
import { makeLog } from '../platform/log.ts'
import { tenantTold } from '../records/calls.fixture.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { makeDialCheck } from './dial-check.ts'
import { dialCheckRoutes } from './dial-check-routes.ts'
import { makeDialGate } from './dial-gate.ts'
import { makePhoneRoutes } from './phone-routes.ts'

const ANN = '+12025550101'
const ROUTE = '+12025550180'
const FROM = '+12025550190'
const FOREIGN = '+12025550170'

const test = useDatabase()
const clock = new TestClock()
const log = makeLog({ level: 'silent', secrets: [] })
let limits: Partial<TenantRuntime['limits']>
let compliance: Partial<TenantRuntime['compliance']>
const tenants = {
  async get(id: TenantId): Promise<TenantRuntime> {
    const told = tenantTold(id, null)
    const telephony = { ...told.telephony, from_number: FROM as PhoneNumber }
    const rules = { compliance: { ...told.compliance, ...compliance }, limits: { ...told.limits, ...limits } }
    return { ...told, telephony, ...rules }
  },
}
const server = useTenantServer(
  () => test.db,
  () => {
    const resolveAgent = makeResolveAgent({ db: test.db, clock, log })
    return [dialCheckRoutes(makeDialCheck({ db: test.db, tenants, gate: makeDialGate({ clock }), resolveAgent }))]
  },
)

beforeEach(async () => {
  limits = {}
  compliance = {}
  for (const [id, number] of [
    ['acme', ROUTE],
    ['globex', FOREIGN],
  ] as const) {
    const tenantId = await makeTenantWithToken(test.db, id)
    const agents = makeAgents({ db: test.db, clock })
    const agent = await agents.create(tenantId, { agentKey: `${id}-agent`, name: 'Robin', description: '' }, THE_SYSTEM)
    const versions = makeAgentVersions({ db: test.db, clock })
    const draft = await versions.create(tenantId, agent.id, {}, THE_SYSTEM)
    await versions.publish(tenantId, draft.id, THE_SYSTEM)
    await agents.create(tenantId, { agentKey: 'unpublished', name: 'Sam', description: '' }, THE_SYSTEM)
    await makePhoneRoutes({ db: test.db, clock }).create(
      tenantId,
      {
        ...{ phone_number: number as PhoneNumber, agent_key: `${id}-agent`, label: '' },
        ...{ inbound_enabled: true, outbound_default: false },
      },
      THE_SYSTEM,
    )
  }
})

function check(body: unknown, tenant: string | null = 'acme') {
  return server.call(tenant, 'POST', '/dial-check', body)
}

describe('POST dial-check', () => {
  it.each([
    { to: ANN },
    { to: ANN, from: ROUTE },
    { to: ANN, from: FROM },
    { to: ANN, from: FROM, agent_key: 'acme-agent' },
    { to: ANN, metadata: { order: 4711 } },
  ])('lets %j be placed', async (body) => {
    expect(await check(body)).toEqual({ status: 200, body: { ok: true, allowed: true, refusals: [] } })
  })

  it('tells all that speaks against a call, and writes nothing down', async () => {
    const premium = '+19005551234' as PhoneNumber
    const doNotCall = makeDoNotCall({ db: test.db, clock, log, tenants })
    await doNotCall.add('acme' as TenantId, { phone: premium, reason: null, source: null })
    const refusals = [
      { code: 'dnc_listed', reason: 'The number is on the do-not-call list: it may be called once it is taken off.' },
      { code: 'premium_number', reason: 'The number is a premium-rate number, and those are never called.' },
    ]
    expect(await check({ to: premium })).toEqual({ status: 200, body: { ok: true, allowed: false, refusals } })
    expect(await check({ to: premium }, 'globex')).toMatchObject({ body: { refusals: [refusals[1]] } })
    expect(await test.db.selectFrom('call_logs').select('id').execute()).toEqual([])
  })

  it.each([
    [{ to: ANN }, false],
    [{ to: ANN, metadata: { consent: 'true' } }, false],
    [{ to: ANN, metadata: { consent: true } }, true],
  ])('answers %j where consent is required as the call would be: %j', async (body, allowed) => {
    compliance = { require_consent: true }
    const refusals = allowed ? [] : [{ code: 'consent_missing', reason: expect.stringContaining('metadata.consent') }]
    expect(await check(body)).toEqual({ status: 200, body: { ok: true, allowed, refusals } })
  })

  it('may be asked under a cap as often as one likes', async () => {
    limits = { max_concurrent_calls: 1 }
    for (let times = 0; times < 3; times += 1)
      expect(await check({ to: ANN })).toMatchObject({ body: { allowed: true } })
  })

  it.each([
    [{}, '/body/to'],
    [{ to: '2025550101' }, '/body/to'],
    [{ to: ANN, from: 'me' }, '/body/from'],
    [{ to: ANN, from: '+12025550160' }, '/body/from'],
    [{ to: ANN, agent_key: 'nobody' }, '/body/agent_key'],
    // As make-call does: it has nothing to speak by.
    [{ to: ANN, agent_key: 'unpublished' }, '/body/agent_key'],
    [{ to: ANN, greeting: 'Hello' }, '/body/greeting'],
    [{ to: ANN, metadata: ['consent'] }, '/body/metadata'],
    [{ to: ANN, metadata: Object.fromEntries(Array.from({ length: 101 }, (_none, at) => [at, at])) }, '/body/metadata'],
    // Another tenant's, which are there.
    [{ to: ANN, from: FOREIGN }, '/body/from'],
    [{ to: ANN, agent_key: 'globex-agent' }, '/body/agent_key'],
  ])('refuses %j and names %s', async (body, path) => {
    expect(await check(body)).toMatchObject({ status: 400, body: { code: 'invalid_request', details: [{ path }] } })
  })

  it('lets nobody without a credential ask', async () => {
    expect(await check({ to: ANN }, null)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
    expect(await check({ to: ANN }, 'nobody')).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
  })
})
