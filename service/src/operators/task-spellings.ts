import { phoneNumberOf } from '../kernel/phone.ts'
import type { Tx } from '../platform/db/schema.ts'
import { listTaskNumbersAcrossTenants, respellTaskNumbersAcrossTenants } from './task-spellings-store.ts'

/**
 * Writes the numbers of the tasks that are not over without a prefix of their country, for all tenants: so the calls of a number know
 * its tasks. Nobody is told: it is the same number.
 */
export async function respellTasksAcrossTenants(tx: Tx): Promise<void> {
  const spellings = (await listTaskNumbersAcrossTenants(tx)).flatMap((kept) => {
    const number = phoneNumberOf(kept)
    return number === null || number === kept ? [] : [{ kept, number }]
  })
  if (spellings.length > 0) await respellTaskNumbersAcrossTenants(tx, spellings)
}
