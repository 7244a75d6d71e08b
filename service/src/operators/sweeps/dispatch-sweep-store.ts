import { type SqlBool, sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import type { Db } from '../../platform/db/schema.ts'
import { RANK } from '../callback-task-move-store.ts'
import type { SweptTask, TaskPage } from './sweep-run.ts'

const isDue = (now: Date) => sql<SqlBool>`status = 'open' and (due_at is null or due_at <= ${now})`

/** The tenants with open tasks that are due in queues whose tasks agents call for by themselves. */
export async function listDispatchTenantsAcrossTenants(db: Db, now: Date): Promise<TenantId[]> {
  const { rows } = await sql<{ tenant_id: TenantId }>`
    select distinct tenant_id
      from operator_queues join callback_tasks using (tenant_id, queue_key)
     where auto_dispatch and ${isDue(now)}
     order by tenant_id
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

/**
 * The open tasks of these queues that are due, in the order in which operators would get them. What was refused comes last, the
 * longest ago first, so that it holds up nothing.
 */
export async function listToDispatch(
  db: Db,
  tenantId: TenantId,
  { queueKeys, now, limit, except }: TaskPage & { queueKeys: string[]; now: Date },
): Promise<SweptTask[]> {
  const { rows } = await sql<SweptTask>`
    select id, queue_key
      from callback_tasks
      left join callback_task_follow_ups done
        on done.tenant_id = callback_tasks.tenant_id and done.task_id = callback_tasks.id
     where callback_tasks.tenant_id = ${tenantId} and queue_key = any (${queueKeys}::text[]) and ${isDue(now)}
       and id <> all (${except}::uuid[])
     order by done.refused_at nulls first, ${RANK}, sla_due_at, created_at, id
     limit ${limit}
  `.execute(db)
  return rows
}
