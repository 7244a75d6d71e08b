import { sql } from 'kysely'
import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import type { Db, Tx } from '../platform/db/schema.ts'

type PhoneNumberRow = { phone_number: PhoneNumber; tenant_id: TenantId; by_document: boolean; by_route: boolean }

declare module '../platform/db/schema.ts' {
  interface Schema {
    phone_numbers: PhoneNumberRow
  }
}

/** What names a number: the tenant document's `telephony.from_number`, or a phone route. A number may be named by both. */
export type NumberClaim = 'document' | 'route'

/**
 * Makes the tenant the holder of `number`, so that no other tenant can name it. Repeating it changes nothing.
 *
 * Claim before anything is released, with the tenant's row held (`holdTenant`): two tenants that swap numbers then refuse
 * each other instead of waiting for each other.
 * @throws AppError `conflict` when another tenant holds the number.
 */
export async function claimNumber(tx: Tx, tenantId: TenantId, number: PhoneNumber, by: NumberClaim): Promise<void> {
  const { rows } = await sql<{ phone_number: string }>`
    insert into phone_numbers as held (phone_number, tenant_id, by_document, by_route)
    values (${number}, ${tenantId}, ${by === 'document'}, ${by === 'route'})
        on conflict (phone_number) do update
       set by_document = held.by_document or excluded.by_document, by_route = held.by_route or excluded.by_route
     where held.tenant_id = excluded.tenant_id
    returning phone_number`.execute(tx)
  if (rows.length === 0) throw new AppError('conflict', `The number ${number} is held by another tenant.`)
}

/**
 * Takes back the tenant's claim of `number`; the number is free for others once neither the document nor a route names
 * it. A number that the tenant does not hold is left alone.
 */
export async function releaseNumber(tx: Tx, tenantId: TenantId, number: PhoneNumber, by: NumberClaim): Promise<void> {
  // The update comes first: it locks the row, so that of two claims released at once the second sees the first.
  await tx
    .updateTable('phone_numbers')
    .set(by === 'document' ? { by_document: false } : { by_route: false })
    .where('tenant_id', '=', tenantId)
    .where('phone_number', '=', number)
    .execute()
  await tx
    .deleteFrom('phone_numbers')
    .where('tenant_id', '=', tenantId)
    .where('phone_number', '=', number)
    .where('by_document', '=', false)
    .where('by_route', '=', false)
    .execute()
}

/** The tenant that holds `number`, or null. A look-up over all tenants, for calls that come in. */
export async function findHolder(db: Db, number: PhoneNumber): Promise<TenantId | null> {
  const row = await db
    .selectFrom('phone_numbers')
    .select('tenant_id')
    .where('phone_number', '=', number)
    .executeTakeFirst()
  return row?.tenant_id ?? null
}
