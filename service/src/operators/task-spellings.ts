import { phoneNumberOf } from '../kernel/phone.ts'
import type { Tx } from '../platform/db/schema.ts'
import { listTaskNumbersAcrossTenants, respellTaskNumberAcrossTenants } from './task-spellings-store.ts'

/**
 * Writes the numbers of the tasks that are not over without a prefix of their country, for all tenants: so the calls of a number know
 * its tasks. Nobody is told: it is the same number.
 */
export async function respellTasksAcrossTenants(tx: Tx): Promise<void> {
  for (const phone of await listTaskNumbersAcrossTenants(tx)) {
    const number = phoneNumberOf(phone)
    if (number !== null && number !== phone) await respellTaskNumberAcrossTenants(tx, phone, number)
  }
}
