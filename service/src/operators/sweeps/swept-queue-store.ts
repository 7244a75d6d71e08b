import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import type { Db } from '../../platform/db/schema.ts'
import { LIVE_STATUSES } from '../callback-task-values.ts'

/** A queue, and the instant before which what is looked for must lie; what that is, the sweep knows. */
export type QueueCut = { queueKey: string; before: Date }

/** The last instant that a task of whatever queue may have; null when nothing is looked for. */
export function latestOf(cuts: QueueCut[]): Date | null {
  return cuts.length === 0 ? null : new Date(Math.max(...cuts.map(({ before }) => before.getTime())))
}

/**
 * The instant of the queue of a row. Null for a queue that has none, which no comparison is true of. No join, so that rows are
 * read in the order of their index and no further than the limit.
 */
export function cutOf(cuts: QueueCut[]): RawBuilder<Date | null> {
  const keys = cuts.map(({ queueKey }) => queueKey)
  const instants = cuts.map(({ before }) => before.toISOString())
  return sql`(${instants}::timestamptz[])[array_position(${keys}::text[], queue_key)]`
}

const isLive = sql<SqlBool>`status in (${sql.join(LIVE_STATUSES.map((status) => sql.lit(status)))})`

/** The queues of a tenant that have tasks which are not done: each is found by one step in the index, however many they have. */
export async function listLiveQueues(db: Db, tenantId: TenantId): Promise<string[]> {
  const { rows } = await sql<{ queue_key: string }>`
    with recursive queue (queue_key) as (
      (select queue_key from callback_tasks where tenant_id = ${tenantId} and ${isLive} order by queue_key limit 1)
      union all
      select (select task.queue_key from callback_tasks task
               where task.tenant_id = ${tenantId} and task.${isLive} and task.queue_key > queue.queue_key
               order by task.queue_key limit 1)
        from queue where queue.queue_key is not null
    )
    select queue_key from queue where queue_key is not null
  `.execute(db)
  return rows.map(({ queue_key }) => queue_key)
}

/** The tenants that have a task of which this is true: each is asked for one. */
export async function listTenantsWithTaskAcrossTenants(db: Db, isWanted: RawBuilder<SqlBool>): Promise<TenantId[]> {
  const { rows } = await sql<{ tenant_id: TenantId }>`
    select tenants.tenant_id
      from tenants
     cross join lateral (select from callback_tasks task where task.tenant_id = tenants.tenant_id and ${isWanted} limit 1) one
     where tenants.deleted_at is null
     order by tenants.tenant_id
  `.execute(db)
  return rows.map(({ tenant_id }) => tenant_id)
}
