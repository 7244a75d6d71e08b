import type { TenantId } from '../kernel/ids.ts'
import type { KeyTable, MadeByKey } from '../platform/db/request-keys.ts'
import type { Db } from '../platform/db/schema.ts'
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

/** Of keys by which requests for tasks may be repeated. */
export const TASK_KEYS: KeyTable = { table: 'callback_task_keys', made: 'task_id' }

/** The task that a key was taken for, as it is now, and for which body; null: there is none, or it was erased. */
export async function findTaskOfKey(
  db: Db,
  tenantId: TenantId,
  key: string,
): Promise<MadeByKey<CallbackTaskRow> | null> {
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
  const { body_hash: bodyHash, ...made } = row
  return { made, bodyHash }
}
