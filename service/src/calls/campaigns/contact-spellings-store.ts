import { type SqlBool, sql } from 'kysely'
import type { PhoneNumber } from '../../kernel/phone.ts'
import type { Tx } from '../../platform/db/schema.ts'
import type { ContactRow } from './contact-store.ts'

/** A contact of a campaign who is called, or may be. */
export type OpenContact = Pick<ContactRow, 'tenant_id' | 'id' | 'phone'>

/** Contacts who are called, or may be, by tenant and id, after one of them. Over all tenants. */
export function listOpenContactsAcrossTenants(
  tx: Tx,
  { after, limit }: { after: OpenContact | null; limit: number },
): Promise<OpenContact[]> {
  const behind = after ? sql<SqlBool>`(tenant_id, id) > (${after.tenant_id}, ${after.id}::uuid)` : sql<SqlBool>`true`
  return tx
    .selectFrom('campaign_contacts')
    .select(['tenant_id', 'id', 'phone'])
    .where('status', 'in', ['pending', 'dialing'])
    .where(behind)
    .orderBy('tenant_id')
    .orderBy('id')
    .limit(limit)
    .execute()
}

/**
 * Writes the number of a contact in another way; of one whom the campaign has that way, too, this one is called no more.
 * One that is being called then is left as it is.
 */
export async function respellContact(tx: Tx, { tenant_id, id }: OpenContact, number: PhoneNumber): Promise<void> {
  const { rows } = await sql`
    update campaign_contacts contact set phone = ${number}
     where tenant_id = ${tenant_id} and id = ${id}
       and not exists (select from campaign_contacts other
                        where other.tenant_id = contact.tenant_id and other.campaign_id = contact.campaign_id
                          and other.phone = ${number})
    returning id`.execute(tx)
  if (rows.length > 0) return
  await tx
    .updateTable('campaign_contacts')
    .set({ status: 'cancelled', claim_token: null, claimed_until: null })
    .where('tenant_id', '=', tenant_id)
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .execute()
}
