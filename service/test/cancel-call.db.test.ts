import { describe, expect, it } from 'vitest'
import { listener } from '../../simulator/src/carrier/caller-script.ts'
import type { CallStatus } from '../src/records/call-values.ts'
import { OTHER_NODE, someCall, storedEvents, tenantTold } from '../src/records/calls.fixture.ts'
import { makeSessions } from '../src/records/sessions.ts'
import { Browser } from './harness/browser.ts'
import { useDatabase } from './harness/database.ts'
import { NUMBER, useDialApp } from './harness/dial-app.ts'
import { until } from './harness/wait.ts'

const PASSWORD = 'a password of this test'
const GRACE = 'grace@acme.example'

type Answered = { error: string; code: string; call_log: Record<string, unknown> }

describe('POST /api/v1/call-logs/{call_sid}/cancel', () => {
  const test = useDatabase()
  const webhook = { url: 'https://hooks.example.com', events: ['voice.call.failed'] }
  const app = useDialApp(test, { document: { webhook } })
  const rest = () => app.simulator.carrier.faults.rest
  const cancel = (sid: unknown, tenant: string | null = 'acme') =>
    app.served.call<Answered>(tenant, 'POST', `/call-logs/${String(sid)}/cancel`)

  const cancelBy = (browser: Browser, sid: unknown) =>
    browser.call('POST', `/call-logs/${String(sid)}/cancel`, { headers: { 'x-tenant-id': 'acme' } })

  /** A person of the tenant, and the administrator. */
  async function people() {
    const settings = { TELEPHONY_API_BASE_URL: app.simulator.carrier.baseUrl }
    const node = await app.another({ settings: { ...settings, ADMIN_USERNAME: 'ada', ADMIN_PASSWORD: PASSWORD } })
    await node.administer('POST', '/tenants/acme/users', { email: GRACE, role: 'admin', password: PASSWORD })
    const [grace, ada] = [new Browser(node), new Browser(node)]
    expect((await grace.login(GRACE, PASSWORD)).status).toBe(200)
    expect((await ada.login('ada', PASSWORD)).status).toBe(200)
    return { grace, ada }
  }

  /** As a carrier has told of it. */
  async function dialled(status?: CallStatus): Promise<unknown> {
    const { body } = await app.dial()
    if (status) await test.db.updateTable('call_logs').set({ status }).execute()
    return body['call_sid']
  }

  it.each<CallStatus>(['queued', 'initiated', 'ringing'])('stops one that is %s, and tells so', async (status) => {
    const sid = await dialled(status)
    const { status: answered, body } = await cancel(sid)
    expect([answered, body.call_log]).toMatchObject([
      200,
      { call_sid: sid, status: 'canceled', ended_at: expect.any(String) },
    ])
    expect(app.calls[0]?.status).toBe('canceled')
    expect((await storedEvents(test.db)).map(({ event }) => event)).toEqual(['voice.call.failed'])
  })

  it('knows which person has placed it, and which one has cancelled it, also where the carrier tells of the end itself', async () => {
    const { grace, ada } = await people()
    const body = { from: NUMBER, to: app.callee, agent_key: 'desk' }
    const placed = await grace.call('POST', '/make-call', { body })
    expect(await app.newestLog()).toMatchObject({ placed_by: GRACE, canceled_by: null })
    Object.assign(app.calls[0]?.faults.callbacks ?? {}, { delivery: 'normal' })
    rest().modify = 'accept-then-reset'
    await cancelBy(ada, placed.body['call_sid'])
    await until(async () => (await app.newestLog())['status'] === 'canceled', { what: 'the word of the carrier' })
    expect(await app.newestLog()).toMatchObject({ placed_by: GRACE, canceled_by: 'ada' })
    const [told] = await storedEvents(test.db)
    expect(told?.body).toMatchObject({ payload: { call_log: { placed_by: GRACE, canceled_by: 'ada' } } })
  })

  it('names who has cancelled it, and not who asked for that when it was', async () => {
    const sid = await dialled('ringing')
    const { grace, ada } = await people()
    rest().modify = 'accept-then-reset'
    expect((await cancelBy(grace, sid)).status).toBe(502)
    rest().modify = 'normal'
    expect((await cancelBy(ada, sid)).body).toMatchObject({ call_log: { status: 'canceled', canceled_by: GRACE } })
  })

  it.each([
    ['somebody else', 'ada'],
    ['a key', null],
  ])('names nobody whose request the carrier has refused, after which %s has cancelled it', async (_, name) => {
    const sid = await dialled('ringing')
    const { grace, ada } = await people()
    rest().modify = 'internal-error'
    expect((await cancelBy(grace, sid)).status).toBe(502)
    rest().modify = 'normal'
    const { body } = name === null ? await cancel(sid) : await cancelBy(ada, sid)
    expect(body).toMatchObject({ call_log: { status: 'canceled', canceled_by: name } })
  })

  it('names nobody who has a key, nor whoever was too late', async () => {
    const sid = await dialled('ringing')
    await test.db.updateTable('call_logs').set({ canceled_by: 'ada' }).execute()
    expect(await app.newestLog()).toMatchObject({ placed_by: null, canceled_by: null })
    expect((await cancel(sid)).body.call_log).toMatchObject({ placed_by: null, canceled_by: null })
  })

  it('changes nothing when it is asked for again, which is answered as before', async () => {
    const sid = await dialled()
    const first = await cancel(sid)
    const second = await cancel(sid)
    expect([second.status, second.body.call_log]).toEqual([200, first.body.call_log])
  })

  it('cancels it once for two who ask at the same time, and tells both so', async () => {
    const sid = await dialled('ringing')
    const answers = await Promise.all([cancel(sid), cancel(sid)])
    expect(answers).toMatchObject([1, 2].map(() => ({ status: 200, body: { call_log: { status: 'canceled' } } })))
    expect((await storedEvents(test.db)).map(({ event }) => event)).toEqual(['voice.call.failed'])
  })

  it('has cancelled it where the answer of the carrier was lost, which whoever asks again is told', async () => {
    const sid = await dialled('ringing')
    rest().modify = 'accept-then-reset'
    expect(await cancel(sid)).toMatchObject({ status: 502, body: { error: expect.stringContaining('try again') } })
    rest().modify = 'normal'
    expect(await cancel(sid)).toMatchObject({ status: 200, body: { call_log: { status: 'canceled' } } })
  })

  it.each<[CallStatus, string]>([
    ['in-progress', 'end_call'],
    ['completed', 'it is completed'],
    ['no-answer', 'it is no-answer'],
  ])('refuses one that is %s, and says why', async (status, why) => {
    const answer = await cancel(await dialled(status))
    expect(answer).toMatchObject({ status: 409, body: { code: 'conflict', error: expect.stringContaining(why) } })
    expect(app.calls[0]?.status).not.toBe('canceled')
  })

  it('refuses one that was answered a moment ago, of which the carrier has not told yet', async () => {
    app.simulator.carrier.subscribe(app.callee, listener('Hello?'))
    const sid = await dialled()
    await until(() => app.calls[0]?.status === 'in-progress', { what: 'the answer' })
    await test.db.updateTable('call_logs').set({ status: 'ringing', stream_sid: null }).execute()
    expect(await cancel(sid)).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect(app.calls[0]?.status).toBe('in-progress')
  })

  it('refuses one that has come in', async () => {
    const tenant = tenantTold('acme', null)
    await makeSessions({ db: test.db, clock: app.clock, nodeId: OTHER_NODE }).open(tenant, someCall('CA-in'))
    const answer = await cancel('CA-in')
    expect(answer).toMatchObject({ status: 409, body: { error: expect.stringContaining('was placed') } })
  })

  it.each<[string, 'unauthorized' | 'internal-error', number, string]>([
    ['refuses the account', 'unauthorized', 503, 'carrier_credentials'],
    ['is in trouble', 'internal-error', 502, 'upstream_failed'],
  ])('leaves it as it is where the carrier %s', async (_, fault, status, code) => {
    const sid = await dialled('ringing')
    rest().modify = fault
    expect(await cancel(sid)).toMatchObject({ status, body: { code } })
    expect((await app.newestLog())['status']).toBe('ringing')
    rest().modify = 'normal'
    expect((await cancel(sid)).status).toBe(200)
  })

  it('says what is missing where there is no account to ask', async () => {
    const sid = await dialled('ringing')
    await app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme' })
    expect(await cancel(sid)).toMatchObject({ status: 503, body: { error: expect.stringContaining('account_sid') } })
  })

  it.each<[string, string | null, number]>([
    ['nobody', null, 401],
    ['another tenant', 'other', 404],
  ])('does nothing for %s', async (_, tenant, status) => {
    const sid = await dialled('ringing')
    if (tenant) await app.served.furnish(tenant, { number: '+12025550141' })
    expect((await cancel(sid, tenant)).status).toBe(status)
    expect(app.calls[0]?.status).not.toBe('canceled')
  })

  it('refuses what is no id, and knows no call that is not there', async () => {
    expect((await cancel('x'.repeat(300))).status).toBe(400)
    expect((await cancel('CA-none')).status).toBe(404)
  })
})
