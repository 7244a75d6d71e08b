import type { Actor } from '../kernel/actor.ts'
import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import type { Tx } from '../platform/db/schema.ts'
import { findHolder } from './phone-number-store.ts'
import type { TenantDocument } from './tenant-document.ts'
import { findStoredTenant } from './tenant-store.ts'

/** A number that is to be a tenant's, and who says so; `isConnected`: the tenant's carrier has just been seen to have it. */
type Wish = { number: PhoneNumber; by: Actor; installationNumber: PhoneNumber | null; isConnected: boolean }

/**
 * A tenant without a carrier account of its own uses that of the installation, whose numbers the administrator gives out: a
 * person of the tenant names those that it holds, and takes no other. With an account of its own they take those that the
 * carrier has for it: anybody can write down two words as an account.
 *
 * @throws AppError `forbidden`.
 */
export async function refuseInstallationNumber(tx: Tx, tenantId: TenantId, wish: Wish): Promise<void> {
  const { number, by, installationNumber, isConnected } = wish
  if (by.kind !== 'person' || (await findHolder(tx, number)) === tenantId) return
  if (number === installationNumber) throw theAdministrators('number')
  await refuseInstallationAccount(tx, tenantId, by)
  if (!isConnected) throw new AppError('forbidden', UNSEEN)
}

const UNSEEN =
  'The number is not yet known to be yours: add a phone route for it with configure_carrier, or ask the administrator.'

/** A person does nothing at the carrier in the name of the installation. @throws AppError `forbidden`. */
export async function refuseInstallationAccount(tx: Tx, tenantId: TenantId, by: Actor): Promise<void> {
  if (by.kind !== 'person') return
  const stored = await findStoredTenant(tx, tenantId)
  if (!stored || !hasOwnAccount(stored.document)) throw theAdministrators('carrier account')
}

/**
 * A person cannot give up the tenant's own account: the numbers taken by it would be the installation's.
 *
 * @throws AppError `forbidden`.
 */
export function refuseGivingUpAccount(before: TenantDocument | null, after: TenantDocument, by: Actor): void {
  if (by.kind === 'person' && before && hasOwnAccount(before) && !hasOwnAccount(after))
    throw theAdministrators('carrier account')
}

function hasOwnAccount({ telephony }: TenantDocument): boolean {
  return Boolean(telephony?.account_sid && telephony.auth_token)
}

function theAdministrators(what: string): AppError {
  return new AppError('forbidden', `The ${what} would be that of the installation: ask its administrator.`)
}
