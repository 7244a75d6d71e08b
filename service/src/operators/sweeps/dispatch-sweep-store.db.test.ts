import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { useDatabase } from '../../../test/harness/database.ts'
import { plansOf } from '../../../test/harness/plans.ts'
import { makeTenant } from '../../../test/harness/tenants.ts'
import { until } from '../../../test/harness/wait.ts'
import { AppError } from '../../kernel/errors.ts'
import type { TenantId } from '../../kernel/ids.ts'
import type { Db } from '../../platform/db/schema.ts'
import type { CallbackTaskId } from '../callback-task-store.ts'
import { sweepDispatches } from './dispatch-sweep.ts'
import { listToDispatch } from './dispatch-sweep-store.ts'
import { findFollowUp, noteTold, takeTask } from './follow-up-store.ts'
import { sweepBench } from './sweeps.fixture.ts'

const ACME = 'acme' as TenantId
const NOW = new Date('2030-01-15T12:00:00Z')
const MINUTE_MS = 60_000
const ago = (minutes: number) => new Date(NOW.getTime() - minutes * MINUTE_MS)

const test = useDatabase()

type Made = {
  phone: string
  status?: string
  queue?: string
  priority?: string
  refusedAt?: Date | null
  count?: number
}

/** Tasks of one kind, of which the phone tells. */
async function make(made: Made): Promise<void> {
  const { phone, status = 'open', queue = 'one', priority = 'normal', refusedAt = null, count = 1 } = made
  const { rows } = await sql<{ id: CallbackTaskId }>`
    insert into callback_tasks (tenant_id, id, customer_phone, status, priority, queue_key, metadata, sla_due_at,
                                dispatch_attempt_count, created_at, updated_at)
    select ${ACME}, gen_random_uuid(), ${phone}, 'open', ${priority}, ${queue}, '{}', ${NOW}, 0, ${ago(60)}, ${ago(60)}
      from generate_series(1, ${count}::integer)
    returning id`.execute(test.db)
  const ids = rows.map(({ id }) => id)
  if (refusedAt) {
    await test.db.transaction().execute(async (tx) => {
      for (const [i, id] of ids.entries())
        await noteTold(tx, ACME, id, { refused_at: new Date(refusedAt.getTime() + i) })
    })
  }
  await sql`update callback_tasks set status = ${status} where id = any(${ids}::uuid[])`.execute(test.db)
}

const page = (queueKeys: string[], limit: number) => ({ queueKeys, limit, now: NOW, except: [] })

async function phones(queueKeys: string[], limit: number): Promise<string[]> {
  const found = await listToDispatch(test.db, ACME, page(queueKeys, limit))
  const { rows } = await sql<{ id: string; customer_phone: string }>`
    select id, customer_phone from callback_tasks`.execute(test.db)
  const byId = new Map(rows.map(({ id, customer_phone }) => [id, customer_phone]))
  return found.map(({ id }) => byId.get(id) ?? '')
}

describe('the tasks that are to be dispatched', () => {
  beforeEach(() => makeTenant(test.db, ACME))

  it('come in their turn, and behind them those that are put off, the next first, of all queues that are asked for', async () => {
    await make({ phone: 'put off for long', refusedAt: ago(-50), priority: 'urgent' })
    await make({ phone: 'put off', refusedAt: ago(-1), queue: 'two' })
    await make({ phone: 'not any more', refusedAt: ago(1), priority: 'low' })
    await make({ phone: 'not for long', refusedAt: ago(90), priority: 'urgent' })
    await make({ phone: 'fresh', queue: 'two' })
    await make({ phone: 'of another queue', queue: 'three' })
    await make({ phone: 'done', status: 'completed', refusedAt: ago(90) })
    const inTurn = ['not for long', 'fresh', 'not any more']
    expect(await phones(['one', 'two'], 10)).toEqual([...inTurn, 'put off', 'put off for long'])
    expect(await phones(['one', 'two'], 2)).toEqual(['not for long', 'fresh'])
    expect(await phones(['two'], 10)).toEqual(['fresh', 'put off'])
  })

  it('are found by steps of an index, however many were refused before, done or not', async () => {
    // A small table would be read whole, the rest of it too.
    await make({ phone: 'done at once', status: 'completed', count: 20_000 })
    await make({ phone: 'done', status: 'completed', refusedAt: ago(90), count: 1_000 })
    await make({ phone: 'refused', refusedAt: ago(-50), count: 500 })
    await sql`vacuum analyze`.execute(test.db)
    expect(await phones(['one'], 3)).toEqual(['refused', 'refused', 'refused'])
    const plans = await plansOf(test.db, (db) => listToDispatch(db, ACME, page(['one'], 3)))
    expect(plans.map(({ indexes }) => [...indexes])).toEqual([['callback_tasks_to_dispatch']])
    expect(plans.every(({ rows, blocks }) => rows < 10 && blocks < 100)).toBe(true)
  })

  it('are not compared with each call, however many there are whose time has come, and leave out who has one', async () => {
    await make({ phone: 'in a call', refusedAt: ago(90), priority: 'urgent' })
    await make({ phone: 'calling', priority: 'urgent' })
    await make({ phone: 'not any more', refusedAt: ago(90), count: 200 })
    await sql`
      insert into call_logs (tenant_id, id, direction, "from", "to", status, status_at, created_at, escalated, metadata)
      select ${ACME}, gen_random_uuid(), 'inbound', case n when 1 then 'calling' else 'somebody' end,
             case n when 2 then 'in a call' else 'the desk' end, 'in-progress', ${NOW}, ${NOW}, false, '{}'
        from generate_series(1, 50) n`.execute(test.db)
    await sql`vacuum analyze`.execute(test.db)
    expect(await phones(['one'], 3)).toEqual(['not any more', 'not any more', 'not any more'])
    const plans = await plansOf(test.db, (db) => listToDispatch(db, ACME, page(['one'], 3)))
    expect(plans.every(({ inVain }) => inVain < 10)).toBe(true)
  })

  it('are noted as refused beside a sweep that escalates them: neither waits for the other in vain', async () => {
    await make({ phone: 'late' })
    const [task] = await listToDispatch(test.db, ACME, page(['one'], 1))
    const id = task?.id as CallbackTaskId
    const other = await test.anotherNode()
    const note = (told: Parameters<typeof noteTold>[3]) =>
      other.db.transaction().execute((tx) => noteTold(tx, ACME, id, told))
    let refused: Promise<boolean> | undefined
    await test.db.transaction().execute(async (tx) => {
      expect(await takeTask(tx, ACME, id, ['open'])).not.toBeNull()
      refused = note({ refused_at: NOW })
      // On the embedded database it waits for the only connection.
      const isWaiting = async () => test.kind === 'embedded' || (await waitingForLocks(test.db)) > 0
      await until(isWaiting, { what: 'the refusal to wait for the task' })
      await noteTold(tx, ACME, id, { escalated_at: NOW })
    })
    await refused
    expect(await findFollowUp(test.db, ACME, id)).toMatchObject({ escalated_at: NOW, refused_at: NOW })
  })
})

describe('a sweep that dispatches tasks', () => {
  it('says nothing of one that was erased while its call was refused', async () => {
    const clock = new TestClock()
    const { known, create, setQueue } = sweepBench(test, () => clock)
    await makeTenant(test.db, ACME)
    await setQueue({ auto_dispatch: true })
    const { id } = await create()
    await clock.advance(1)
    const dispatch = async () => {
      await test.db.deleteFrom('callback_tasks').where('id', '=', id).execute()
      throw new AppError('dnc_listed', 'It is listed.')
    }
    const deps = { ...known(), dispatch, check: async () => null, opensAt: () => null }
    const ask = { tenantId: null, limitRows: 10, emitWebhooks: true, isDryRun: false }
    expect(await sweepDispatches(deps, ask)).toMatchObject({ items: [], failures: [] })
  })
})

/** Not to be asked in a transaction, which sees the same activity as long as it goes on. */
async function waitingForLocks(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
  return rows[0]?.count ?? 0
}
