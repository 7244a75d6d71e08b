import { phoneNumberOf } from '../../kernel/phone.ts'
import type { Tx } from '../../platform/db/schema.ts'
import { listOpenContactsAcrossTenants, type OpenContact, respellContact } from './contact-spellings-store.ts'

const PAGE_ROWS = 1_000

/**
 * Writes the numbers of the contacts who may be called yet without a prefix of their country, for all tenants: so all calls of a number
 * count together. Nobody is told: it is the same number.
 */
export async function respellContactsAcrossTenants(tx: Tx): Promise<void> {
  let after: OpenContact | null = null
  do {
    const page: OpenContact[] = await listOpenContactsAcrossTenants(tx, { after, limit: PAGE_ROWS })
    for (const contact of page) {
      const number = phoneNumberOf(contact.phone)
      if (number !== null && number !== contact.phone) await respellContact(tx, contact, number)
    }
    after = page.length < PAGE_ROWS ? null : (page.at(-1) ?? null)
  } while (after)
}
