import { describe, expect, it } from 'vitest'
import { useDatabase } from '../../test/harness/database.ts'
import { NUMBER, useDialApp } from '../../test/harness/dial-app.ts'
import { ACCOUNT } from '../../test/harness/served-app.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { makeCallbackTasks } from '../operators/callback-tasks.ts'
import { tenantTold } from '../records/calls.fixture.ts'

const OTHER_NUMBER = '+12025550141'
const ACCOUNT_OF_TENANT = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token }

describe('POST /api/v1/make-call', () => {
  const test = useDatabase()
  const app = useDialApp(test)

  async function document(changes: Record<string, unknown>): Promise<void> {
    await app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', telephony: ACCOUNT_OF_TENANT, ...changes })
  }

  async function draft(tenant: string, changes: Record<string, unknown> = {}): Promise<string> {
    const { agents } = await app.served.administer<{ agents: { id: string }[] }>('GET', `/tenants/${tenant}/agents`)
    const config = { agent_name: 'Draft', max_call_seconds: 600, ...changes }
    const path = `/tenants/${tenant}/agent-versions`
    const body = { agent_id: agents[0]?.id, config }
    return (await app.served.administer<{ version: { id: string } }>('POST', path, body)).version.id
  }

  it('places a call, and writes it down', async () => {
    const { status, headers, body } = await app.dial({ org_id: 'org-1', metadata: { order: 7 } })
    const [call] = app.calls
    expect([status, body]).toEqual([
      200,
      { ok: true, call_sid: call?.sid, status: 'queued', to: app.callee, from: NUMBER },
    ])
    expect(headers.get('idempotent-replayed')).toBeNull()
    expect([call?.from, call?.to, app.calls.length]).toEqual([NUMBER, app.callee, 1])
    expect(await app.newestLog()).toMatchObject({
      ...{
        call_sid: call?.sid,
        direction: 'outbound',
        from: NUMBER,
        to: app.callee,
        status: 'queued',
        agent_key: 'desk',
      },
      ...{ org_id: 'org-1', metadata: { order: 7 }, error_code: null, callback_task_id: null },
    })
    const [session] = await test.db.selectFrom('voice_sessions').selectAll().execute()
    expect(session).toMatchObject({ call_sid: call?.sid, direction: 'outbound', started_at: null, ended_at: null })
  })

  it('at the old address too, which says where the new one is', async () => {
    const { status, headers } = await app.dial({}, { path: '/make-call' })
    expect([status, headers.get('deprecation')]).toEqual([200, 'true'])
    expect(headers.get('link')).toBe('</api/v1/make-call>; rel="successor-version"')
  })

  it('speaks as an exact version, drafts too', async () => {
    const { status } = await app.dial({ agent_key: undefined, agent_version_id: await draft('acme') })
    expect(status).toBe(200)
    expect(await app.newestLog()).toMatchObject({ agent_name: 'Draft', version_number: 2 })
  })

  it('speaks as that version also where its agent is named beside it, and as none of another agent', async () => {
    const versions = '/tenants/acme/agent-versions'
    const other = { agent_key: 'sales', name: 'Sales' }
    const { agent } = await app.served.administer<{ agent: { id: string } }>('POST', '/tenants/acme/agents', other)
    const { version } = await app.served.administer<{ version: { id: string } }>('POST', versions, {
      ...{ agent_id: agent.id, config: { agent_name: 'Draft' } },
    })
    const refused = await app.dial({ agent_key: 'desk', agent_version_id: version.id })
    expect(refused).toMatchObject({ status: 400, body: { details: [{ path: '/body/agent_version_id' }] } })
    expect((await app.dial({ agent_key: 'sales', agent_version_id: version.id })).status).toBe(200)
    expect(await app.newestLog()).toMatchObject({ agent_key: 'sales', agent_name: 'Draft', version_number: 1 })
  })

  it.each([
    ['a minute longer than its agent has', {}, 660],
    [
      'long enough for a mailbox to be left its message',
      { voicemail: { action: 'leave_message', message: 'Hi.' } },
      780,
    ],
  ])('lasts at its carrier %s', async (_, changes, seconds) => {
    await app.dial({ agent_key: undefined, agent_version_id: await draft('acme', changes) })
    expect(app.calls.at(-1)).toMatchObject({ plan: { timeLimitMs: seconds * 1_000 } })
  })

  it('comes from the default route with its agent, when nothing else is said', async () => {
    const path = '/tenants/acme/phone-routes'
    const route = { phone_number: OTHER_NUMBER, agent_key: 'desk', outbound_default: true }
    await app.served.administer('POST', path, route)
    const { status, body } = await app.dial({ from: undefined, agent_key: undefined })
    expect([status, body['from']]).toEqual([200, OTHER_NUMBER])
    expect(await app.newestLog()).toMatchObject({ agent_key: 'desk', from: OTHER_NUMBER })
  })

  it("comes from the document's number with the document's agent, without such a route", async () => {
    await document({ telephony: { ...ACCOUNT_OF_TENANT, from_number: OTHER_NUMBER }, agent: { agent_name: 'Doc' } })
    const { status, body } = await app.dial({ from: undefined, agent_key: undefined })
    expect([status, body['from']]).toEqual([200, OTHER_NUMBER])
    expect(await app.newestLog()).toMatchObject({ agent_key: null, agent_name: 'Doc' })
  })

  it('is for a callback task, if that is said', async () => {
    const tasks = makeCallbackTasks({ db: test.db, clock: app.clock })
    const nothing = { call: null, summary: null, notes: null, dueAt: null, createdBy: null, metadata: {} }
    const callback = { ...nothing, customerPhone: app.callee as PhoneNumber, priority: 'normal' as const }
    const task = await tasks.schedule(tenantTold('acme', null), callback)
    expect((await app.dial({ callback_task_id: task.id })).status).toBe(200)
    expect(await app.newestLog()).toMatchObject({ callback_task_id: task.id })
  })

  it.each([
    ['no number to call', { to: undefined }, '/body/to'],
    ['a number that is none', { to: '12025550123' }, '/body/to'],
    ['a number that cannot be', { to: '+1202' }, '/body/to'],
    ['a field that is not known', { colour: 'red' }, '/body/colour'],
    ["a number that is not the tenant's", { from: '+12025550199' }, '/body/from'],
    ['an agent that is not there', { agent_key: 'nobody' }, '/body/agent_key'],
    ['a version that is not there', { agent_key: undefined, agent_version_id: 'x' }, '/body/agent_version_id'],
    ['two agents', { agent_version_id: '01900000-0000-7000-8000-000000000001' }, '/body/agent_version_id'],
    ['a task that is not there', { callback_task_id: 'x' }, '/body/callback_task_id'],
    ['a greeting of nothing but blanks', { greeting: ' ' }, '/body/greeting'],
    ['metadata that is no object', { metadata: 'x' }, '/body/metadata'],
    ['nobody who speaks', { agent_key: undefined }, '/body/agent_key'],
  ])('refuses %s, and places nothing', async (_what, body, path) => {
    const answer = await app.dial(body)
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', details: [{ path }] } })
    expect([app.calls.length, await app.newestLog()]).toEqual([0, {}])
  })

  it.each(['', 'x'.repeat(256), 'a key with ü'])('refuses the key %j', async (key) => {
    const bytes = Buffer.from(key).toString('latin1')
    const answer = await app.dial({}, { key: bytes })
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path: '/headers/idempotency-key' }] } })
  })

  it('refuses a call that has no number to come from', async () => {
    expect(await app.dial({ from: undefined })).toMatchObject({
      ...{ status: 400, body: { code: 'missing_route', details: [{ path: '/body/from' }] } },
    })
  })

  it('refuses what belongs to another tenant', async () => {
    await app.served.furnish('other', { number: OTHER_NUMBER })
    const version = { agent_key: undefined, agent_version_id: await draft('other') }
    expect(await app.dial(version)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(await app.dial({ from: OTHER_NUMBER })).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(app.calls).toEqual([])
  })

  it('asks for a credential', async () => {
    const { status, headers } = await app.dial({}, { tenant: null })
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  })

  it('is unavailable to a tenant without a carrier account', async () => {
    await document({ telephony: {} })
    expect(await app.dial()).toMatchObject({
      status: 503,
      body: { code: 'unavailable', error: expect.stringContaining('carrier account') },
    })
  })

  it('does not pass more calls than the tenant may have at a time, also at once', async () => {
    await document({ limits: { max_concurrent_calls: 3 } })
    const answers = await Promise.all(Array.from({ length: 20 }, () => app.dial()))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(new Set(refused.map(({ status, body }) => `${status} ${body['code']}`))).toEqual(
      new Set(['409 tenant_busy']),
    )
    expect(app.calls).toHaveLength(3)
    expect(await test.db.selectFrom('call_logs').select('id').execute()).toHaveLength(3)
  })
})

describe('POST /api/v1/make-call without a model', () => {
  const test = useDatabase()
  const app = useDialApp(test, { hasModel: false })

  it('is unavailable', async () => {
    expect(await app.dial()).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  })
})
