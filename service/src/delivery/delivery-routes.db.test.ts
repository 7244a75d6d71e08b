import { beforeEach, describe, expect, it } from 'vitest'
import { useAdminServer } from '../../test/harness/admin-server.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { someUuid } from '../../test/harness/matchers.ts'
import { makeTenantWithToken, useTenantServer } from '../../test/harness/tenant-server.ts'
import { systemClock } from '../kernel/clock.ts'
import { expectTenant } from '../tenancy/known-tenant.ts'
import { DeliveryStage, ofCall } from './deliveries.fixture.ts'
import { makeDeliveries } from './deliveries.ts'
import { adminDeliveryRoutes, deliveryRoutes } from './delivery-routes.ts'

type Shown = {
  id: string
  event: string
  status: string
  attempts: number
  next_attempt_at: string | null
  body: unknown
}
type List = { deliveries: Shown[]; count: number; next_cursor: string | null; error?: string }

const test = useDatabase()
const deliveries = () => makeDeliveries({ db: test.db, clock: systemClock })
const server = useTenantServer(
  () => test.db,
  () => [deliveryRoutes(deliveries())],
)
const admin = useAdminServer(() => [adminDeliveryRoutes(deliveries(), (tenantId) => expectTenant(test.db, tenantId))])
const PATH = '/webhook-deliveries'
let stage: DeliveryStage

beforeEach(async () => {
  stage = new DeliveryStage(() => test.db)
  for (const id of ['acme', 'globex']) {
    await makeTenantWithToken(test.db, id)
    stage.tell(id, 'http://127.0.0.1:9/')
  }
})

/** Sets what stands in every row of the tenant. */
function set(values: { status?: 'pending' | 'delivered' | 'failed'; attempts?: number; url?: string }) {
  return test.db.updateTable('webhook_outbox').set(values).execute()
}

async function list(query = '', tenant = 'acme'): Promise<Shown[]> {
  const { status, body } = await server.call<List>(tenant, 'GET', `${PATH}${query}`)
  expect(status).toBe(200)
  return body.deliveries
}

function redeliver(body: unknown, tenant: string | null = 'acme') {
  return server.call<{ requeued: number; error: string; details: unknown }>(tenant, 'POST', PATH, body)
}

describe('GET webhook-deliveries', () => {
  it('shows every field of a delivery, without what the query of its address holds', async () => {
    await stage.happens('acme', [ofCall('CA1')])
    await set({ url: 'https://hooks.example.com/parley?token=swordfish', attempts: 1 })
    const { body } = await server.call('acme', 'GET', PATH)
    expect(body).toEqual({
      ...{ ok: true, count: 1, next_cursor: null },
      deliveries: [
        {
          ...{ id: someUuid, event: 'voice.call.started', url: 'https://hooks.example.com/parley?***' },
          ...{ status: 'pending', attempts: 1, next_attempt_at: '2030-01-01T00:00:00.000Z', last_status_code: null },
          ...{ last_error: null, delivered_at: null, created_at: '2030-01-01T00:00:00.000Z', attempt_log: [] },
          body: {
            ...{ event: 'voice.call.started', tenant_id: 'acme', call_sid: 'CA1' },
            voice_session_id: '0190a000-0000-7000-8000-000000000001',
            ...{ created_at: '2030-01-01T00:00:00.000Z', payload: { n: 1 } },
          },
        },
      ],
    })
  })

  it('lists those of the tenant only, newest first, page by page', async () => {
    await stage.happens('globex', [ofCall('CA9')])
    for (const sid of ['CA1', 'CA2', 'CA3']) {
      await stage.happens('acme', [ofCall(sid)])
      await stage.clock.advance(1)
    }
    const sids = (rows: Shown[]) => rows.map(({ body }) => (body as { call_sid: string }).call_sid)
    expect(sids(await list())).toEqual(['CA3', 'CA2', 'CA1'])
    const { body } = await server.call<List>('acme', 'GET', `${PATH}?limit=2`)
    expect(sids(body.deliveries)).toEqual(['CA3', 'CA2'])
    expect(sids(await list(`?limit=2&cursor=${body.next_cursor}`))).toEqual(['CA1'])
    expect(sids(await list('', 'globex'))).toEqual(['CA9'])
  })

  it('has no more bodies in a page than calls can go on beside, and leads on by its cursor', async () => {
    const sids = ['CA1', 'CA2', 'CA3', 'CA4', 'CA5', 'CA6']
    for (const sid of sids) {
      // Half a megabyte, of which a table keeps far less; and one that is longer than a page may be.
      const said = 'Hello there. '.repeat(sid === 'CA2' ? 100_000 : 40_000)
      await stage.happens('acme', [{ ...ofCall(sid), payload: { said } }])
      await stage.clock.advance(1)
    }
    const pages: string[][] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = `?limit=500${cursor && `&cursor=${cursor}`}`
      const { body }: { body: List } = await server.call<List>('acme', 'GET', `${PATH}${query}`)
      expect(body.count).toBe(body.deliveries.length)
      pages.push(body.deliveries.map((shown) => (shown.body as { call_sid: string }).call_sid))
      cursor = body.next_cursor
    }
    expect(pages).toEqual([['CA6', 'CA5'], ['CA4', 'CA3'], ['CA2'], ['CA1']])
    expect(await list('?limit=0')).toEqual([])
    expect((await admin.call<List>('GET', '/tenants/acme/webhook-deliveries?limit=500')).body.deliveries).toHaveLength(
      2,
    )
  })

  it('shows the attempts of a delivery, the oldest first, without their numbers', async () => {
    await stage.happens('acme', [ofCall('CA1')])
    const attempt = (n: number) => ({
      at: `2030-01-01T00:0${n}:00.000Z`,
      status_code: 500,
      error: 'no',
      duration_ms: n,
    })
    const attempt_log = JSON.stringify([{ ...attempt(1), attempt: 1 }, attempt(2)])
    const facts = { attempt_log, status: 'delivered' as const, delivered_at: new Date('2030-01-01T00:02:00.005Z') }
    await test.db.updateTable('webhook_outbox').set(facts).execute()
    const [shown] = await list()
    expect(shown).toMatchObject({ next_attempt_at: null, delivered_at: '2030-01-01T00:02:00.005Z' })
    expect(shown).toHaveProperty('attempt_log', [attempt(1), attempt(2)])
  })

  it('finds by event, status, call and time', async () => {
    await stage.happens('acme', [ofCall('CA1'), { event: 'dnc.added', subject: null, payload: {} }])
    expect(await list('?event=dnc.added')).toHaveLength(1)
    expect(await list('?status=failed')).toEqual([])
    expect(await list('?status=pending&call_sid=CA1')).toHaveLength(1)
    expect(await list('?from=2030-01-01T00:00:00.000Z')).toHaveLength(2)
    expect(await list('?to=2030-01-01T00:00:00.000Z')).toEqual([])
  })

  it.each(['?status=done', '?event=unheard.of', '?limit=501', '?from=yesterday', '?cursor=x', '?colour=red'])(
    'refuses %s',
    async (query) => {
      expect((await server.call('acme', 'GET', `${PATH}${query}`)).status).toBe(400)
    },
  )

  it('asks for a credential', async () => {
    expect((await server.call(null, 'GET', PATH)).status).toBe(401)
  })
})

describe('POST webhook-deliveries', () => {
  it('makes a delivery due at once under the same id, its attempts counted on', async () => {
    await stage.happens('acme', [ofCall('CA1')])
    await set({ status: 'failed', attempts: 8 })
    const [failed] = await list()
    expect(await redeliver({ ids: [failed?.id] })).toMatchObject({ status: 200, body: { ok: true, requeued: 1 } })
    expect(await list()).toMatchObject([{ id: failed?.id, status: 'pending', attempts: 8 }])
    const target = await stage.target()
    target.answer({ status: 500 })
    stage.tell('acme', target.url)
    stage.clock.skip(systemClock.now())
    await stage.deliverer().start()
    // The schedule begins anew: another attempt follows the ninth one.
    expect(await stage.settled(9)).toMatchObject({ status: 'pending', attempts: 9, last_status_code: 500 })
  })

  it('finds by filter; of any status only if it is named, else what has failed', async () => {
    await stage.happens('acme', [ofCall('CA1'), ofCall('CA2'), { event: 'dnc.added', subject: null, payload: {} }])
    expect((await redeliver({ event: 'voice.call.started' })).body.requeued).toBe(0)
    await set({ status: 'failed' })
    expect((await redeliver({ event: 'voice.call.started', from: '2030-01-01T00:00:00Z' })).body.requeued).toBe(2)
    await set({ status: 'delivered' })
    expect((await redeliver({ status: 'delivered', to: '2030-01-01T00:00:00Z' })).body.requeued).toBe(0)
    expect((await redeliver({ status: 'delivered' })).body.requeued).toBe(3)
  })

  it("ignores ids that nobody has, and another tenant's", async () => {
    await stage.happens('globex', [ofCall('CA9')])
    await set({ status: 'failed' })
    const [theirs] = await list('', 'globex')
    const ids = [theirs?.id, '0190a000-0000-7000-8000-00000000dead', 'no-uuid']
    expect(await redeliver({ ids })).toMatchObject({ status: 200, body: { requeued: 0 } })
    expect((await redeliver({ status: 'failed' })).body.requeued).toBe(0)
    expect(await list('', 'globex')).toMatchObject([{ status: 'failed' }])
  })

  it('leaves one alone that is being sent', async () => {
    await stage.happens('acme', [ofCall('CA1')])
    await test.db
      .updateTable('webhook_outbox')
      .set({ leased_until: new Date(4_000_000_000_000) })
      .execute()
    expect((await redeliver({ status: 'pending' })).body.requeued).toBe(0)
  })

  it.each([{}, { ids: [] }, { ids: ['a'], event: 'dnc.added' }, { ids: ['a'], status: 'failed' }, { colour: 'red' }])(
    'refuses %j',
    async (body) => {
      expect((await redeliver(body)).status).toBe(400)
    },
  )

  it('asks for a credential', async () => {
    expect((await redeliver({ ids: ['a'] }, null)).status).toBe(401)
  })
})

describe("an operator's view of a tenant's deliveries", () => {
  const ADMIN_PATH = '/tenants/acme/webhook-deliveries'

  it('shows them with what could tell who somebody is masked', async () => {
    const payload = { entry: { phone: '+12025550123', reason: 'wrote to me@example.com' }, list: [1, null] }
    await stage.happens('acme', [{ event: 'dnc.added', subject: null, payload }])
    const { status, body } = await admin.call<List>('GET', ADMIN_PATH)
    expect(status).toBe(200)
    const masked = { entry: { phone: '+*******0123', reason: 'wrote to ***@example.com' }, list: [1, null] }
    expect(body.deliveries[0]?.body).toMatchObject({ tenant_id: 'acme', payload: masked })
  })

  it('sends them again', async () => {
    await stage.happens('acme', [ofCall('CA1')])
    await stage.happens('globex', [ofCall('CA1')])
    await set({ status: 'failed' })
    const sent = { body: { status: 'failed' } }
    expect(await admin.call('POST', ADMIN_PATH, sent)).toMatchObject({ status: 200, body: { requeued: 1 } })
    expect(await list('', 'globex')).toMatchObject([{ status: 'failed' }])
  })

  it('asks for the key, a sound request and a tenant that there is', async () => {
    const sent = { body: { status: 'failed' } }
    for (const method of ['GET', 'POST'] as const) {
      const of = method === 'GET' ? {} : sent
      expect((await admin.call(method, ADMIN_PATH, { ...of, adminKey: null })).status).toBe(401)
      for (const nobody of ['nobody', 'n'.repeat(100)])
        expect((await admin.call(method, `/tenants/${nobody}/webhook-deliveries`, of)).status).toBe(404)
      expect((await admin.call(method, `${ADMIN_PATH}?colour=red`, of)).status).toBe(400)
    }
    expect((await admin.call('POST', ADMIN_PATH, { body: {} })).status).toBe(400)
  })
})
