import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { eventFaults } from '../src/event-checks.fixture.ts'
import { CALLER, NUMBER, useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { ACCOUNT, ServedApp } from './harness/served-app.ts'
import { until } from './harness/wait.ts'
import { type Received, startWebhookTarget, type WebhookTarget } from './harness/webhook-target.ts'

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
const BILLING_SECRET = 'secret-of-the-billing-of-the-tests'

const test = useDatabase()
const settings: Record<string, string> = {}
let target: WebhookTarget
let billing: WebhookTarget
beforeEach(async () => {
  target = await startWebhookTarget()
  billing = await startWebhookTarget()
  Object.assign(settings, {
    OUTBOUND_ALLOW_PRIVATE_NETWORKS: 'true',
    BILLING_WEBHOOK_URL: billing.url,
    BILLING_WEBHOOK_SECRET: BILLING_SECRET,
  })
})
const app = useCallApp(test, { settings })
afterEach(async () => {
  await Promise.all([target.close(), billing.close()])
})

/** Tells the tenant everything at the target from now on. */
function subscribe(webhook: Record<string, unknown> = {}) {
  const telephony = { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token }
  const told = { url: target.url, secret: SECRET, events: ['voice.transcript.turn', ...CALL_EVENTS], ...webhook }
  return app.served.administer('PUT', '/tenants/acme', { tenant_id: 'acme', telephony, webhook: told })
}

const CALL_EVENTS = [
  ...['voice.call.started', 'voice.call.completed', 'voice.call.failed', 'voice.session.started'],
  ...['voice.session.completed', 'dnc.added', 'dnc.removed'],
]

function envelope({ body }: Received): { event: string; call_sid: string; payload: Record<string, unknown> } {
  return JSON.parse(body)
}

function isSigned({ headers, body }: Received, key: Buffer): boolean {
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}

/** A call from its beginning to its end, in which both say something. */
async function wholeCall(): Promise<void> {
  const client = await app.talk({ CallSid: 'CA1', From: CALLER, To: NUMBER })
  const { last: model } = app.model
  model.tell({ type: 'response_started', responseId: 'r' })
  model.tell({ type: 'agent_transcript', responseId: 'r', itemId: 'i', text: 'Hello.', final: true })
  client.send({ event: 'stop', streamSid: 'MZ1', stop: {} })
  const status = { CallSid: 'CA1', AccountSid: ACCOUNT.sid, CallStatus: 'completed', CallDuration: '7' }
  const told = async () => (await app.post('/api/v1/call-status', { form: status })).status === 200
  await until(told, { what: 'the status to be taken' })
}

type Depth = { depths: { table: string; pending: number; delivered: number; failed: number }[]; count: number }
type Counts = { attempted: number; delivered: number; failed: number; rescheduled: number }

async function depthOf(table: string) {
  const { depths } = await app.served.administer<Depth>('GET', '/outboxes/depth')
  return depths.find((each) => each.table === table)
}

describe('the service', () => {
  it('tells a tenant each event of a call as documented, signed and numbered, and billing what it cost', async () => {
    await subscribe()
    await wholeCall()
    const completed = () => target.received.some((each) => envelope(each).event === 'voice.call.completed')
    await app.pass(completed, 'the end of the call to be told')
    await app.pass(() => billing.received.length === 1, 'the billing')
    expect([...target.received, ...billing.received].flatMap((each) => eventFaults(envelope(each)))).toEqual([])
    expect(target.received.every((each) => isSigned(each, Buffer.alloc(32, 9)))).toBe(true)
    expect(target.received.map(({ headers }) => Number(headers['parley-sequence']))).toEqual(
      target.received.map((_, index) => index + 1),
    )
    expect(target.received.map((each) => envelope(each).event)).toEqual(
      expect.arrayContaining(['voice.call.started', 'voice.session.started', 'voice.session.completed']),
    )
    const [billed] = billing.received
    if (!billed) throw new Error('it was billed')
    expect(isSigned(billed, Buffer.from(BILLING_SECRET))).toBe(true)
    expect(envelope(billed)).toMatchObject({
      ...{ event: 'billing.outcome', call_sid: 'CA1' },
      payload: { outcome: { direction: 'inbound', status: 'completed', from: CALLER, to: NUMBER } },
    })
    await app.pass(async () => (await depthOf('billing_outbox'))?.delivered === 1, 'the billing to be settled')
    const { body } = await app.served.call<{ deliveries: { status: string }[] }>('acme', 'GET', '/webhook-deliveries')
    expect(body.deliveries).toHaveLength(target.received.length)
  })

  it("goes on with a call's numbers when its callback task is worked on after its end", async () => {
    await subscribe({ events: ['voice.call.completed', 'callback.task.created', 'callback.task.claimed'] })
    await wholeCall()
    await app.pass(() => target.received.length === 1, 'the end of the call to be told')
    const wanted = { customer_phone: CALLER, call_sid: 'CA1' }
    const { body } = await app.served.call<{ task: { id: string } }>('acme', 'POST', '/callback-tasks', wanted)
    await app.served.call('acme', 'POST', `/callback-tasks/${body.task.id}/claim`, { operator: 'ada' })
    await app.pass(() => target.received.length === 3, 'what happened to the task to be told')
    const told = target.received.map((each) => [
      Number(each.headers['parley-sequence']),
      envelope(each).event,
      envelope(each).call_sid,
    ])
    expect(told.toSorted()).toEqual([
      [1, 'voice.call.completed', 'CA1'],
      [2, 'callback.task.created', 'CA1'],
      [3, 'callback.task.claimed', 'CA1'],
    ])
  })

  it('disables a webhook that answers 410, and sends it nothing more', async () => {
    await subscribe()
    target.answer({ status: 410 })
    await app.served.call('acme', 'POST', '/dnc', { phone: '+12025550177' })
    type Shown = { config: { webhook: { disabled?: boolean } } }
    const shown = () => app.served.administer<Shown>('GET', '/tenants/acme')
    await app.pass(async () => (await shown()).config.webhook.disabled === true, 'the webhook to be disabled')
    await app.served.call('acme', 'DELETE', '/dnc/+12025550177')
    await app.pass(async () => (await depthOf('webhook_outbox'))?.failed === 1, 'the failure to be counted')
    expect([target.received.length, (await depthOf('webhook_outbox'))?.pending]).toEqual([1, 0])
  })

  it('delivers billing outcomes that are due when it is told to', async () => {
    const outcome = { event: 'billing.outcome', tenant_id: 'gone', call_sid: 'CA9', payload: {} }
    const rows = ['1', '2', '3'].map((n) => ({
      ...{ id: `0190a000-0000-7000-8000-00000000000${n}`, tenant_id: 'gone', event: 'billing.outcome' },
      ...{ call_sid: `CA${n}`, voice_session_id: null, sequence: null, body: JSON.stringify(outcome) },
      ...{ status: 'pending' as const, attempts: 0, due_at: new Date(0), claim_token: null, created_at: new Date(0) },
    }))
    await test.db
      .insertInto('billing_outbox')
      .values(rows as never)
      .execute()
    billing.answer({ status: 204 }, { status: 500 }, { status: 204 })
    const sweep = (query: string) => app.served.administer<Counts>('POST', `/outboxes/billing-outcomes/sweep${query}`)
    expect(await sweep('?limit=2')).toEqual({ ok: true, attempted: 2, delivered: 1, failed: 0, rescheduled: 1 })
    expect(await sweep('')).toEqual({ ok: true, attempted: 1, delivered: 1, failed: 0, rescheduled: 0 })
    expect(await sweep('?limit=0')).toMatchObject({ attempted: 0 })
    await expect(sweep('?limit=10001')).rejects.toThrow('400')
    expect(await depthOf('billing_outbox')).toEqual({ table: 'billing_outbox', pending: 1, delivered: 2, failed: 0 })
  })

  it('shows the outboxes to nobody but an administrator', async () => {
    const { count, depths } = await app.served.administer<Depth>('GET', '/outboxes/depth')
    expect(depths.map(({ table }) => table)).toEqual(['webhook_outbox', 'billing_outbox', 'notification_outbox'])
    expect(count).toBe(3)
    for (const [method, path] of [
      ['GET', '/admin/outboxes/depth'],
      ['POST', '/admin/outboxes/billing-outcomes/sweep'],
      ['GET', '/admin/outboxes/billing-outcomes/deliveries'],
      ['POST', '/admin/outboxes/notifications/deliveries'],
    ] as const) {
      expect((await app.served.call('acme', method, path)).status).toBe(401)
      expect((await app.served.call(null, method, path)).status).toBe(401)
    }
    await expect(app.served.administer('GET', '/outboxes/depth?colour=red')).rejects.toThrow('400')
  })

  it.each([
    [{}, 0],
    [{ BILLING_WEBHOOK_SECRET: '' }, 1],
    [{ BILLING_WEBHOOK_SECRET: '', STANDBY: 'true' }, 0],
    [{ BILLING_WEBHOOK_SECRET: '', BILLING_WEBHOOK_URL: '' }, 0],
  ])('tells the operator at the start when billing outcomes go out unsigned: %j', async (changed, times) => {
    const served = await ServedApp.start(test, { settings: { ...settings, ...changed } })
    onTestFinished(() => served.app.close())
    expect(served.logLines().filter(({ msg }) => msg.includes('posted unsigned'))).toHaveLength(times)
  })
})
