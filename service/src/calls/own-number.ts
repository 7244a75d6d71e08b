import { invalidRequest } from '../kernel/errors.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import type { Db } from '../platform/db/schema.ts'
import { findHolder } from '../tenancy/phone-number-store.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'

/** @throws AppError `invalid_request` unless calls of the tenant may come from the number that `from` names. */
export async function expectOwnNumber(
  db: Db,
  { tenant_id, telephony }: TenantRuntime,
  from: PhoneNumber,
): Promise<void> {
  if (from === telephony.from_number || (await findHolder(db, from)) === tenant_id) return
  throw invalidRequest([
    { path: '/body/from', message: 'must be a number of yours: that of a phone route, or from_number' },
  ])
}
