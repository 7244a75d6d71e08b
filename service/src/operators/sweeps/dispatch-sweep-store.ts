import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import type { PhoneNumber } from '../../kernel/phone.ts'
import type { Db } from '../../platform/db/schema.ts'
import { numbersInCall } from '../../records/live-call-store.ts'
import { RANK } from '../callback-task-move-store.ts'
import type { SweptTask, TaskPage } from './sweep-run.ts'

const isDue = (now: Date) => sql<SqlBool>`task.status = 'open' and (task.due_at is null or task.due_at <= ${now})`

/** The tenants with open tasks that are due in queues whose tasks agents call for by themselves: each queue is asked for one. */
export async function listDispatchTenantsAcrossTenants(db: Db, now: Date): Promise<TenantId[]> {
  const { rows } = await sql<{ tenant_id: TenantId }>`
    select distinct queue.tenant_id
      from operator_queues queue
     cross join lateral (select from callback_tasks task
                          where task.tenant_id = queue.tenant_id and task.queue_key = queue.queue_key and ${isDue(now)}
                          limit 1) one
     where queue.auto_dispatch
     order by queue.tenant_id
  `.execute(db)
  return rows.map(({ tenant_id }) => tenant_id)
}

/** The queues of a tenant whose tasks agents call for by themselves. */
export async function listDispatchingQueues(db: Db, tenantId: TenantId): Promise<string[]> {
  const rows = await db
    .selectFrom('operator_queues')
    .select('queue_key')
    .where('tenant_id', '=', tenantId)
    .where('auto_dispatch', '=', true)
    .execute()
  return rows.map(({ queue_key }) => queue_key)
}

/** Which tasks to dispatch: those of these queues. */
export type DispatchPage = TaskPage & { queueKeys: string[]; now: Date }

/** A task that is to be dispatched, and whom that calls. */
export type TaskToDispatch = SweptTask & { customer_phone: PhoneNumber }

/**
 * The open tasks of these queues that are due, in the order in which operators would get them; whoever has a call with the tenant
 * now waits until that is over. What was refused comes last as long as it is put off, those first whose time comes first, so that
 * it holds up nothing. Of each queue no more are read than are asked for, in the order of its index, but for those whose time has
 * come and who were not called since: in the morning that may be all of the night, so each of them has to be cheap.
 */
export async function listToDispatch(
  db: Db,
  tenantId: TenantId,
  { queueKeys, now, limit, except }: DispatchPage,
): Promise<TaskToDispatch[]> {
  const some = (isMeant: RawBuilder<unknown>, cut: RawBuilder<unknown>) => sql`
      (select task.id, task.queue_key, task.customer_phone, ${RANK} as rank, task.sla_due_at, task.created_at,
              case when task.refused_at > ${now} then task.refused_at end as put_off_until
         from callback_tasks task
        where task.tenant_id = ${tenantId} and task.queue_key = queue.queue_key and ${isDue(now)} and ${isMeant}
          and task.id <> all (${except}::uuid[]) and task.customer_phone not in (select phone from busy)
        ${cut})`
  const asIndexed = sql`
        order by task.refused_at nulls first, ${RANK}, task.sla_due_at, task.created_at, task.id
        limit ${limit}`
  // Found by their time, and sorted only then: in the order of their rank, all that are put off would be gone through.
  const come = some(sql`task.refused_at <= ${now}`, sql`offset 0`)
  const { rows } = await sql<TaskToDispatch>`
    with busy (phone) as materialized (${numbersInCall(tenantId, now)})
    select next.id, next.queue_key, next.customer_phone
      from unnest(${queueKeys}::text[]) as queue (queue_key)
     cross join lateral (
       ${some(sql`task.refused_at is null`, asIndexed)}
       union all
       (select * from ${come} come
         order by come.rank, come.sla_due_at, come.created_at, come.id
         limit ${limit})
       union all
       ${some(sql`task.refused_at > ${now}`, asIndexed)}
     ) next
     order by next.put_off_until nulls first, next.rank, next.sla_due_at, next.created_at, next.id
     limit ${limit}
  `.execute(db)
  return rows
}
