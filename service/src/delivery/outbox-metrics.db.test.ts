import { sql } from 'kysely'
import { Registry } from 'prom-client'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { plansOf } from '../../test/harness/plans.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { waitingAcrossTenants } from './claim-store.ts'
import { makeOutboxMetrics } from './outbox-metrics.ts'
import { OUTBOX_TABLES, type OutboxTable } from './outbox-store.ts'

const DELIVERED = 3_000
const PENDING = { webhook_outbox: 7, billing_outbox: 3, notification_outbox: 2 }

const linesOf = async (registry: Registry) => (await registry.metrics()).match(/^outbox_waiting.*/gm)

describe('what waits to be delivered', () => {
  const test = useDatabase()

  beforeEach(async () => {
    await makeTenant(test.db, 'acme')
    for (const table of OUTBOX_TABLES) {
      await sql`
        insert into ${sql.table(table)} (tenant_id, id, event, body, status, attempts, due_at, created_at)
        select 'acme', gen_random_uuid(), 'voice.call.started', '{}',
               case when n <= ${sql.lit(PENDING[table])} then 'pending' else 'delivered' end, 0, now(), now()
          from generate_series(1, ${sql.lit(DELIVERED)}) n`.execute(test.db)
    }
    await sql`vacuum analyze`.execute(test.db)
  })

  it('is told by table, and has its bound', async () => {
    const registry = new Registry()
    makeOutboxMetrics(registry, { clock: new TestClock(), waiting: () => waitingAcrossTenants(test.db, 5) })
    expect(await linesOf(registry)).toEqual([
      'outbox_waiting{table="webhook_outbox"} 5',
      'outbox_waiting{table="billing_outbox"} 3',
      'outbox_waiting{table="notification_outbox"} 2',
    ])
  })

  it('is counted without a look at what was delivered', async () => {
    const [plan] = await plansOf(test.db, (db) => waitingAcrossTenants(db, 10_000))
    // By whichever index: the database has two that find these alone.
    expect(plan?.nodes).not.toContain('Seq Scan')
    expect([plan?.rows, plan?.inVain]).toEqual([12, 0])
  })
})

describe('a database that does not tell what waits', () => {
  it('keeps nobody from the other metrics, is asked once at a time, and is believed again', async () => {
    const [registry, clock] = [new Registry(), new TestClock()]
    const asked: PromiseWithResolvers<Record<OutboxTable, number>>[] = []
    const waiting = () => {
      const answer = Promise.withResolvers<Record<OutboxTable, number>>()
      asked.push(answer)
      return answer.promise
    }
    makeOutboxMetrics(registry, { clock, waiting })
    for (let scrape = 0; scrape < 2; scrape += 1) {
      const told = linesOf(registry)
      await clock.advance(500)
      expect(await told).toBeNull()
    }
    expect(asked).toHaveLength(1)
    asked[0]?.reject(new Error('The database is not reachable.'))
    await clock.advance(0)
    const told = linesOf(registry)
    await clock.advance(0)
    asked[1]?.resolve(PENDING)
    expect(await told).toHaveLength(3)
  })
})
