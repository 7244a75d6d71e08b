import { sql } from 'kysely'
import type { PhoneNumber } from '../kernel/phone.ts'
import type { Tx } from '../platform/db/schema.ts'
import { LIVE_STATUSES } from './callback-task-values.ts'

/** The numbers of the tasks that are not over, each once. Over all tenants. */
export async function listTaskNumbersAcrossTenants(tx: Tx): Promise<PhoneNumber[]> {
  const rows = await tx
    .selectFrom('callback_tasks')
    .select('customer_phone')
    .distinct()
    .where('status', 'in', LIVE_STATUSES)
    .execute()
  return rows.map(({ customer_phone }) => customer_phone)
}

/** Writes numbers in another way in the tasks that are not over: all tasks are gone through once. Over all tenants. */
export async function respellTaskNumbersAcrossTenants(
  tx: Tx,
  spellings: { kept: PhoneNumber; number: PhoneNumber }[],
): Promise<void> {
  await sql`
    update callback_tasks task set customer_phone = spelling.number
      from jsonb_to_recordset(${JSON.stringify(spellings)}::jsonb) as spelling (kept text, number text)
     where task.customer_phone = spelling.kept and task.status = any (${LIVE_STATUSES}::text[])`.execute(tx)
}
