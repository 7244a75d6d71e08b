import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { useDatabase } from '../../test/harness/database.ts'
import { plansOf } from '../../test/harness/plans.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import type { TenantId } from '../kernel/ids.ts'
import { readPage } from '../kernel/pages.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { listSupervisorActions } from '../records/supervisor-action-store.ts'
import { listCallbackTasks, type TaskFilter } from './callback-task-store.ts'

const ACME = 'acme' as TenantId
const TASKS = 3_000

const test = useDatabase({ isNew: true })

/** Most are done, as on a desk that has been at work for long; each is of a phone and a call of its own. */
async function fill(): Promise<void> {
  await makeTenant(test.db, ACME)
  await sql`
    insert into callback_tasks (tenant_id, id, customer_phone, call_sid, stream_sid, assigned_to, status, priority, queue_key,
                                metadata, sla_due_at, dispatch_attempt_count, created_at, updated_at)
    select ${ACME}, gen_random_uuid(), '+120255' || lpad(n::text, 5, '0'), 'CA' || n, 'MZ' || n,
           case when n % 500 = 1 then 'ann' when n % 100 <> 0 then 'ben' end,
           case when n % 100 = 0 then 'open' when n % 500 = 1 then 'claimed' else 'completed' end, 'normal', 'one', '{}', at, 0, at, at
      from generate_series(1, ${sql.lit(TASKS)}) n,
           lateral (select timestamptz '2030-01-01' + n * interval '1 second' as at) made`.execute(test.db)
  await sql`vacuum analyze callback_tasks`.execute(test.db)
}

const FILTERS: [what: string, filter: TaskFilter, expectedRows: number][] = [
  ['nothing', {}, 11],
  ['a phone', { customer_phone: '+12025500007' as PhoneNumber }, 1],
  ['a phone that nobody has', { customer_phone: '+12025599999' as PhoneNumber }, 0],
  ['what is claimed', { status: 'claimed' }, 6],
  ['a call', { call_sid: 'CA7' }, 1],
  ['a call that nobody wants an answer to', { call_sid: 'CA9999' }, 0],
  ['a stream', { stream_sid: 'MZ7' }, 1],
  ['a stream of no task', { stream_sid: 'MZ9999' }, 0],
  ['who has few', { assigned_to: 'ann' }, 6],
  ['who has had nearly all', { assigned_to: 'ben' }, 11],
  ['who has none', { assigned_to: 'zoe' }, 0],
]

describe('a desk of 3,000 tasks', () => {
  beforeEach(fill)

  it('shows a page under a filter without reading them all', async () => {
    for (const [what, filter, expectedRows] of FILTERS) {
      const page = readPage({ limit: 10 })
      expect([what, (await listCallbackTasks(test.db, ACME, filter, page)).rows.length]).toEqual([what, expectedRows])
      const [plan] = await plansOf(test.db, (db) => listCallbackTasks(db, ACME, filter, page))
      expect([...(plan?.nodes ?? [])], what).not.toContain('Seq Scan')
      expect(plan?.blocks, what).toBeLessThan(40)
    }
  })
})

describe('3,000 actions of supervisors', () => {
  it('are shown by the stream without reading them all', async () => {
    await makeTenant(test.db, ACME)
    await sql`
      insert into supervisor_actions (tenant_id, id, stream_sid, call_sid, action, metadata, created_at)
      select ${ACME}, gen_random_uuid(), 'MZ' || n / 3, 'CA' || n / 3, 'note', '{}', timestamptz '2030-01-01' + n * interval '1 second'
        from generate_series(1, 3000) n`.execute(test.db)
    await sql`vacuum analyze supervisor_actions`.execute(test.db)
    for (const tenantId of [undefined, ACME]) {
      const asked = { tenantId, streamSid: 'MZ7' }
      expect((await listSupervisorActions(test.db, asked, readPage({}))).rows).toHaveLength(3)
      const [plan] = await plansOf(test.db, (db) => listSupervisorActions(db, asked, readPage({})))
      expect(plan?.blocks).toBeLessThan(20)
    }
  })
})
