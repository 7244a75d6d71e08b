import { sql } from 'kysely'
import { beforeEach, describe, expect, inject, it } from 'vitest'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import type { Received } from '../../test/harness/webhook-target.ts'
import type { Db } from '../platform/db/schema.ts'
import { claimDueAcrossTenants, dueTenantsAcrossTenants, release, settle } from './claim-store.ts'
import { DeliveryStage, ofCall } from './deliveries.fixture.ts'

const test = useDatabase()
let stage: DeliveryStage

beforeEach(async () => {
  stage = new DeliveryStage(() => test.db)
  for (const id of ['acme', 'globex', 'initech']) await makeTenant(test.db, id)
})

function idOf({ headers }: Received): string {
  return String(headers['webhook-id'])
}

describe('two processes', () => {
  it('never send one attempt twice', async () => {
    const target = await stage.target()
    stage.tell('acme', target.url)
    stage.tell('globex', target.url)
    const other = await test.anotherNode()
    const both = [stage.deliverer(), stage.deliverer({ db: other.db })]
    for (const each of both) await each.start()
    const events = Array.from({ length: 30 }, (_, n) => ofCall(`CA${n}`))
    await Promise.all([
      stage.happens('acme', events),
      stage.happens('globex', events, other.db),
      ...Array.from({ length: 20 }, () => stage.clock.advance(1_000)),
    ])
    for (const id of ['acme', 'globex']) await stage.all('delivered', ({ status }) => status === 'delivered', id)
    const ids = target.received.map(idOf)
    expect(new Set(ids).size).toBe(60)
    expect(ids).toHaveLength(60)
  })

  const claim = { tenantIds: ['acme'], limit: 10, leaseMs: 60_000 }

  it('have one holder of a row: what another one writes of it counts for nothing', async () => {
    stage.tell('acme', 'http://127.0.0.1:9/')
    await stage.happens('acme', [ofCall('CA1')])
    const now = new Date(stage.clock.now())
    const [first] = await claimDueAcrossTenants(test.db, 'webhook_outbox', { ...claim, now })
    expect(await claimDueAcrossTenants(test.db, 'webhook_outbox', { ...claim, now })).toEqual([])
    // The lease of the first one ends while it is held up.
    await test.db
      .updateTable('webhook_outbox')
      .set({ leased_until: new Date(0) })
      .execute()
    const [second] = await claimDueAcrossTenants(test.db, 'webhook_outbox', { ...claim, now })
    if (!first || !second) throw new Error('both had it')
    expect([first.attempts, second.attempts, second.body]).toEqual([1, 2, first.body])
    const result = { url: null, statusCode: 204, error: null, retryAfterMs: null, isFinal: false }
    const attempt = { at: now.toISOString(), status_code: 204, error: null, duration_ms: 1 }
    const delivered = { status: 'delivered' as const, dueAt: now, deliveredAt: now, result, attempt }
    expect(await settle(test.db, 'webhook_outbox', first, delivered)).toBe(false)
    await release(test.db, 'webhook_outbox', first)
    expect(await stage.rows()).toMatchObject([{ status: 'pending', attempts: 2 }])
    expect(await settle(test.db, 'webhook_outbox', second, delivered)).toBe(true)
    expect(await stage.rows()).toMatchObject([{ status: 'delivered', attempts: 2 }])
  })

  it.runIf(inject('databaseTemplate').kind === 'server')('pass over what the other is just claiming', async () => {
    stage.tell('acme', 'http://127.0.0.1:9/')
    await stage.happens('acme', [ofCall('CA1')])
    const other = await test.anotherNode()
    const now = new Date(stage.clock.now())
    const here = await test.db.transaction().execute(async (tx) => {
      const claimed = await claimDueAcrossTenants(tx, 'webhook_outbox', { ...claim, now })
      expect(await claimDueAcrossTenants(other.db, 'webhook_outbox', { ...claim, now })).toEqual([])
      return claimed
    })
    expect(here).toHaveLength(1)
    expect(await claimDueAcrossTenants(other.db, 'webhook_outbox', { ...claim, now })).toEqual([])
  })

  it('take over from one that stops in the middle of an attempt, which does not count then', async () => {
    const target = await stage.target()
    target.answer('hang', { status: 204 })
    stage.tell('acme', target.url)
    const first = stage.deliverer()
    await first.start()
    await stage.happens('acme', [ofCall('CA1')])
    await target.receive(1)
    const closed = first.close()
    await stage.clock.advance(2_000)
    await closed
    expect(await stage.rows()).toMatchObject([{ status: 'pending', attempts: 0, claim_token: null }])
    await stage.deliverer().start()
    await stage.all('delivered', ({ status }) => status === 'delivered')
    expect(new Set(target.received.map(idOf)).size).toBe(1)
  })
})

describe('what is due', () => {
  const listed = { event: 'dnc.added' as const, subject: null, payload: {} }

  it('is found page by page: however many tenants wait, none of them is passed over', async () => {
    const due = { now: new Date(stage.clock.now()), limit: 2 }
    for (const id of ['initech', 'acme', 'globex']) {
      stage.tell(id, 'http://127.0.0.1:9/')
      await stage.happens(id, [ofCall('CA1')])
    }
    const find = (after: string | null) => dueTenantsAcrossTenants(test.db, 'webhook_outbox', { ...due, after })
    expect([await find(null), await find('globex'), await find('initech')]).toEqual([
      ['acme', 'globex'],
      ['initech'],
      [],
    ])
  })

  it('is found in the order of the tenants, whatever the database takes for the quickest way', async () => {
    const due = { now: new Date(stage.clock.now()), limit: 2 }
    for (const id of ['initech', 'acme', 'globex']) {
      stage.tell(id, 'http://127.0.0.1:9/')
      await stage.happens(id, [ofCall('CA1')])
    }
    await sql`
      insert into webhook_outbox (tenant_id, id, event, body, status, attempts, due_at, created_at)
      select 'acme', gen_random_uuid(), 'dnc.added', '{}', 'delivered', 0, now(), now() from generate_series(1, 1000)`.execute(
      test.db,
    )
    await sql`analyze webhook_outbox`.execute(test.db)
    const find = (db: Db, after: string | null) => dueTenantsAcrossTenants(db, 'webhook_outbox', { ...due, after })
    const found = await test.db.transaction().execute(async (tx) => {
      // Rows as they lie, in which the last tenant is the first.
      for (const way of ['indexscan', 'indexonlyscan', 'bitmapscan']) {
        await sql`set local ${sql.raw(`enable_${way}`)} = off`.execute(tx)
      }
      return [await find(tx, null), await find(tx, 'globex')]
    })
    expect(found).toEqual([['acme', 'globex'], ['initech']])
  })

  it('of a tenant is claimed whatever others have waited for longer', async () => {
    for (const id of ['acme', 'globex']) {
      stage.tell(id, 'http://127.0.0.1:9/')
      await stage.happens(id, [listed, listed])
      stage.clock.skip(1_000)
    }
    const claim = { tenantIds: ['globex'], limit: 2, leaseMs: 60_000, now: new Date(stage.clock.now()) }
    const claimed = await claimDueAcrossTenants(test.db, 'webhook_outbox', claim)
    expect(claimed.map(({ tenantId }) => tenantId)).toEqual(['globex', 'globex'])
  })
})

describe('a process that is alone on its database', () => {
  it('takes up at its start what another one before it had claimed', async () => {
    const target = await stage.target()
    stage.tell('acme', target.url)
    await stage.happens('acme', [ofCall('CA1')])
    const now = new Date(stage.clock.now())
    const claim = { tenantIds: ['acme'], limit: 10, leaseMs: 60_000, now }
    expect(await claimDueAcrossTenants(test.db, 'webhook_outbox', claim)).toHaveLength(1)
    await stage.deliverer({ isAlone: true }).start()
    const [row] = await stage.all('delivered', ({ status }) => status === 'delivered')
    expect([row?.attempts, target.received.length]).toEqual([2, 1])
  })
})
