import { type SqlBool, sql } from 'kysely'
import { type PhoneNumber, phoneNumberOf } from '../../../kernel/phone.ts'
import type { Tx } from '../schema.ts'

/** A contact of a campaign who is called, or may be. */
type OpenContact = { tenant_id: string; id: string; phone: string }

const PAGE_ROWS = 1_000

/**
 * Writes the numbers of the contacts who may be called yet without a prefix of their country, for all tenants: so all calls of a number
 * count together. Nobody is told: it is the same number.
 */
export async function respellContactsAcrossTenants(tx: Tx): Promise<void> {
  let after: OpenContact | null = null
  do {
    const page: OpenContact[] = await listOpenContacts(tx, after)
    for (const contact of page) {
      const number = phoneNumberOf(contact.phone)
      if (number !== null && number !== contact.phone) await respell(tx, contact, number)
    }
    after = page.length < PAGE_ROWS ? null : (page.at(-1) ?? null)
  } while (after)
}

/** By tenant and id, after one of them. */
async function listOpenContacts(tx: Tx, after: OpenContact | null): Promise<OpenContact[]> {
  const isBehind = after ? sql<SqlBool>`(tenant_id, id) > (${after.tenant_id}, ${after.id}::uuid)` : sql<SqlBool>`true`
  const { rows } = await sql<OpenContact>`
    select tenant_id, id, phone
      from campaign_contacts
     where status in ('pending', 'dialing') and ${isBehind}
     order by tenant_id, id limit ${PAGE_ROWS}`.execute(tx)
  return rows
}

/**
 * Writes the number in another way; of somebody whom the campaign has that way, too, this contact is called no more. One that is being
 * called then is left as it is.
 */
async function respell(tx: Tx, { tenant_id, id }: OpenContact, number: PhoneNumber): Promise<void> {
  const { rows } = await sql`
    update campaign_contacts contact set phone = ${number}
     where tenant_id = ${tenant_id} and id = ${id}
       and not exists (select from campaign_contacts other
                        where other.tenant_id = contact.tenant_id and other.campaign_id = contact.campaign_id
                          and other.phone = ${number})
    returning id`.execute(tx)
  if (rows.length > 0) return
  await sql`
    update campaign_contacts set status = 'cancelled', claim_token = null, claimed_until = null
     where tenant_id = ${tenant_id} and id = ${id} and status = 'pending'`.execute(tx)
}
