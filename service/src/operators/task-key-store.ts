import { sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { CallbackTaskId, CallbackTaskRow } from './callback-task-store.ts'

type TaskKeyRow = {
  tenant_id: TenantId
  key: string
  body_hash: Buffer
  task_id: CallbackTaskId
  created_at: Date
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    callback_task_keys: TaskKeyRow
  }
}

/**
 * Takes a key for a task that this transaction is about to make; false when it was taken after `freeBefore`. Of several at once one
 * is told true, and the others wait for what becomes of it.
 */
export async function takeTaskKey(
  tx: Tx,
  tenantId: TenantId,
  taken: Omit<TaskKeyRow, 'tenant_id'>,
  freeBefore: Date,
): Promise<boolean> {
  const { rows } = await sql<{ key: string }>`
    insert into callback_task_keys as known (tenant_id, key, body_hash, task_id, created_at)
    values (${tenantId}, ${taken.key}, ${taken.body_hash}, ${taken.task_id}, ${taken.created_at})
        on conflict (tenant_id, key) do update
       set body_hash = excluded.body_hash, task_id = excluded.task_id, created_at = excluded.created_at
     where known.created_at <= ${freeBefore}
    returning key`.execute(tx)
  return rows.length > 0
}

/** The task that a key was taken for, as it is now, and for which body; null: there is none, or it was erased. */
export async function findTaskOfKey(
  db: Db,
  tenantId: TenantId,
  key: string,
): Promise<{ task: CallbackTaskRow; bodyHash: Buffer } | null> {
  const row = await db
    .selectFrom('callback_task_keys as known')
    .innerJoin('callback_tasks as task', (join) =>
      join.onRef('task.tenant_id', '=', 'known.tenant_id').onRef('task.id', '=', 'known.task_id'),
    )
    .selectAll('task')
    .select('known.body_hash')
    .where('known.tenant_id', '=', tenantId)
    .where('known.key', '=', key)
    .executeTakeFirst()
  if (!row) return null
  const { body_hash: bodyHash, ...task } = row
  return { task, bodyHash }
}

/** Forgets keys that are free again. Over all tenants. */
export async function forgetTaskKeysAcrossTenants(db: Db, freeBefore: Date): Promise<void> {
  await db.deleteFrom('callback_task_keys').where('created_at', '<=', freeBefore).execute()
}
