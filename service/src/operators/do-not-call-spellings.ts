import { newId } from '../kernel/ids.ts'
import { phoneNumberOf } from '../kernel/phone.ts'
import type { Tx } from '../platform/db/schema.ts'
import { insertSpellings, type ListedNumber, listNumbersAcrossTenants } from './do-not-call-spellings-store.ts'
import type { DncEntryId } from './do-not-call-store.ts'

const PAGE_ROWS = 1_000

/**
 * Lists every number that was listed with a prefix of its country without it, too, for all tenants: so it is called, and asked for.
 * The entry that there is stays, and one that there is already of the other spelling. Nobody is told: the number was listed before.
 */
export async function addSpellingsAcrossTenants(tx: Tx): Promise<void> {
  let after: ListedNumber | null = null
  do {
    const page: ListedNumber[] = await listNumbersAcrossTenants(tx, { after, limit: PAGE_ROWS })
    const missing = page.flatMap(({ phone, ...listed }) => {
      const number = phoneNumberOf(phone)
      if (number === null || number === phone) return []
      return [{ ...listed, newId: newId<DncEntryId>(listed.created_at.getTime()), phone: number }]
    })
    if (missing.length > 0) await insertSpellings(tx, missing)
    after = page.length < PAGE_ROWS ? null : (page.at(-1) ?? null)
  } while (after)
}
