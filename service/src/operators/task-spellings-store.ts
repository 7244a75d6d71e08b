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

/** Writes a number in another way in the tasks that are not over. Over all tenants. */
export async function respellTaskNumberAcrossTenants(tx: Tx, kept: PhoneNumber, number: PhoneNumber): Promise<void> {
  await tx
    .updateTable('callback_tasks')
    .set({ customer_phone: number })
    .where('customer_phone', '=', kept)
    .where('status', 'in', LIVE_STATUSES)
    .execute()
}
