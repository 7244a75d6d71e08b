import { beforeEach, describe, expect, it } from 'vitest'
import { useAdminServer } from '../../test/harness/admin-server.ts'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { newId, type TenantId } from '../kernel/ids.ts'
import { makeBus } from '../platform/bus/bus.ts'
import { memoryWire } from '../platform/bus/memory.ts'
import { makeLog } from '../platform/log.ts'
import { Deliverer } from './deliverer.ts'
import { operatorOutboxRoutes } from './operator-outbox-routes.ts'
import { makeOperatorOutboxes } from './operator-outboxes.ts'
import { insertBillingRow, insertMailRow, type OutboxStatus } from './outbox-store.ts'

type Shown = {
  id: string
  tenant_id: string | null
  event: string
  status: string
  attempts: number
  last_error: string | null
  body: object
}
type List = { outbox_deliveries: Shown[]; count: number; next_cursor: string | null }
type Sent = { requeued: number; details?: { path: string }[] }

const BILLING = '/outboxes/billing-outcomes/deliveries'
const MAIL = '/outboxes/notifications/deliveries'

const test = useDatabase()
const clock = new TestClock()
const admin = useAdminServer(() => [
  operatorOutboxRoutes(makeOperatorOutboxes({ db: test.db, clock }), {
    billing_outbox: true,
    notification_outbox: true,
  }),
])

beforeEach(() => clock.advance(1_000))

/** What a call of the tenant cost, given up after eight attempts unless another status is named. */
async function billed(tenant: string, callSid: string, status: OutboxStatus = 'failed'): Promise<string> {
  const [id, createdAt] = [newId<string>(clock.now()), new Date(clock.now())]
  const tenantId = tenant as TenantId
  const payload = { outcome: { from: '+12025550123' } }
  const told = { event: 'billing.outcome' as const, tenant_id: tenantId, call_sid: callSid, voice_session_id: '' }
  const envelope = { ...told, created_at: createdAt.toISOString(), payload }
  await test.db.transaction().execute((tx) => insertBillingRow(tx, tenantId, { id, callSid, createdAt, envelope }))
  await test.db.updateTable('billing_outbox').set({ status, attempts: 8 }).where('id', '=', id).execute()
  await clock.advance(1_000)
  return id
}

async function mailed(tenantId: string | null): Promise<void> {
  const mail = { subject: 'You are invited', text: 'https://parley.test/app/invitation#secret', to: 'ada@example.com' }
  const row = { id: newId<string>(clock.now()), tenantId: tenantId as TenantId | null, event: 'user.invited' }
  await test.db.transaction().execute((tx) => insertMailRow(tx, { ...row, createdAt: new Date(clock.now()), mail }))
  const last_error = '550 5.1.1 <ada@example.com>: nobody has this address'
  await test.db.updateTable('notification_outbox').set({ status: 'failed', attempts: 8, last_error }).execute()
}

async function list(path: string): Promise<Shown[]> {
  const { status, body } = await admin.call<List>('GET', path)
  expect(status).toBe(200)
  return body.outbox_deliveries
}

const redeliver = (path: string, body: object) => admin.call<Sent>('POST', path, { body })
const statuses = () => test.db.selectFrom('billing_outbox').select(['call_sid', 'status']).orderBy('call_sid').execute()

describe("the operator's outboxes", () => {
  it('show what billing was not told, of all tenants, newest first and masked', async () => {
    await billed('acme', 'CA1')
    await billed('globex', 'CA2')
    await billed('acme', 'CA3', 'delivered')
    const shown = await list(BILLING)
    expect(shown.map(({ tenant_id, attempts }) => [tenant_id, attempts])).toEqual([
      ['globex', 8],
      ['acme', 8],
    ])
    expect(shown[0]?.body).toMatchObject({ call_sid: 'CA2', payload: { outcome: { from: '+*******0123' } } })
    expect(await list(`${BILLING}?status=delivered`)).toMatchObject([{ tenant_id: 'acme', status: 'delivered' }])
  })

  it('lead on page by page, in a span of time', async () => {
    const [first, second, third] = [
      await billed('acme', 'CA1'),
      await billed('globex', 'CA2'),
      await billed('acme', 'CA3'),
    ]
    const { body } = await admin.call<List>('GET', `${BILLING}?limit=2`)
    expect(body.outbox_deliveries.map(({ id }) => id)).toEqual([third, second])
    expect((await list(`${BILLING}?limit=2&cursor=${body.next_cursor}`)).map(({ id }) => id)).toEqual([first])
    const to = new Date(clock.now() - 1_000).toISOString()
    expect((await list(`${BILLING}?to=${to}`)).map(({ id }) => id)).toEqual([second, first])
  })

  it('show of a mail its subject and to whom, and not what lets somebody in', async () => {
    await mailed(null)
    const [mail] = await list(MAIL)
    expect(mail).toMatchObject({ tenant_id: null, event: 'user.invited' })
    expect(mail?.body).toEqual({ subject: 'You are invited', to: '***@example.com' })
    expect(mail?.last_error).toBe('550 5.1.1 <***@example.com>: nobody has this address')
  })

  it('make what was given up due again, and say who did it', async () => {
    await billed('acme', 'CA1')
    await billed('globex', 'CA2')
    await billed('globex', 'CA3', 'delivered')
    expect(await redeliver(BILLING, { status: 'failed' })).toMatchObject({ status: 200, body: { requeued: 2 } })
    expect((await statuses()).map(({ status }) => status)).toEqual(['pending', 'pending', 'delivered'])
    const entries = await test.db.selectFrom('audit_log').select(['action', 'after']).execute()
    expect(entries).toEqual([{ action: 'billing.redelivered', after: { which: { status: 'failed' }, requeued: 2 } }])
    expect(await redeliver(MAIL, { status: 'failed' })).toMatchObject({ body: { requeued: 0 } })
  })

  it('send single ones again, whatever other ids are named', async () => {
    const one = await billed('acme', 'CA1')
    const delivered = await billed('acme', 'CA2', 'delivered')
    await billed('acme', 'CA3')
    const ids = [one, delivered, 'no-id', newId<string>(clock.now())]
    expect(await redeliver(BILLING, { ids })).toMatchObject({ status: 200, body: { requeued: 1 } })
    expect((await statuses()).map(({ status }) => status)).toEqual(['pending', 'delivered', 'failed'])
  })

  it('leave alone what is being sent', async () => {
    const id = await billed('acme', 'CA1')
    const leased_until = new Date(Date.now() + 60_000)
    await test.db.updateTable('billing_outbox').set({ leased_until }).where('id', '=', id).execute()
    expect(await redeliver(BILLING, { ids: [id] })).toMatchObject({ body: { requeued: 0 } })
  })

  it('have what is sent again delivered at once, the attempts counted on', async () => {
    await billed('acme', 'CA1')
    const log = makeLog({ level: 'silent', secrets: [] })
    const bus = makeBus({ wire: memoryWire(), clock, log, onDropped: () => undefined })
    const answer = { url: null, statusCode: 204, error: null, retryAfterMs: null, isFinal: false }
    const deliverer = new Deliverer({
      ...{ db: test.db, clock, log, bus, table: 'billing_outbox', count: () => undefined },
      ...{ send: async () => answer, lanes: { perTenant: 1, total: 1 } },
    })
    await redeliver(BILLING, { status: 'failed' })
    expect(await deliverer.sweep(10)).toMatchObject({ attempted: 1, delivered: 1 })
    expect(await list(`${BILLING}?status=delivered`)).toMatchObject([{ attempts: 9, status: 'delivered' }])
  })

  it('ask for the key and for a sound request', async () => {
    for (const path of [BILLING, MAIL]) {
      expect((await admin.call('GET', path, { adminKey: null })).status).toBe(401)
      expect((await admin.call('POST', path, { adminKey: null, body: { status: 'failed' } })).status).toBe(401)
      expect((await admin.call('GET', `${path}?status=lost`)).status).toBe(400)
      expect(await redeliver(path, {})).toMatchObject({ status: 400, body: { details: [{ path: '/body' }] } })
      expect((await redeliver(path, { from: 'yesterday' })).status).toBe(400)
    }
    expect((await admin.call('GET', '/outboxes/webhooks/deliveries')).status).toBe(400)
  })
})
