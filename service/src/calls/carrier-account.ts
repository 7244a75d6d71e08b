import type { TenantId } from '../kernel/ids.ts'
import { type CarrierAccount, CarrierError } from '../platform/telephony/port.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'

/** Finds a tenant as it is now. */
export type PresentTenants = { get(tenantId: TenantId): Promise<TenantRuntime | null> }

/** The account that the tenant's calls are placed and ended with; null when it has none. */
export function accountOf({ telephony }: TenantRuntime): CarrierAccount | null {
  const { account_sid: accountSid, auth_token: authToken } = telephony
  return accountSid === null || authToken === null ? null : { accountSid, authToken }
}

/**
 * Asks a carrier about a call of the tenant as it was when that began. A token that the carrier refuses may have been changed since:
 * the request is made once more, with the one that the tenant has now for the same account.
 *
 * @throws what the request throws.
 */
export async function askedBy<T>(
  tenants: PresentTenants | undefined,
  { tenant, account }: { tenant: TenantRuntime; account: CarrierAccount },
  request: (account: CarrierAccount) => Promise<T>,
): Promise<T> {
  try {
    return await request(account)
  } catch (err) {
    if (!(err instanceof CarrierError) || err.kind !== 'credentials') throw err
    const present = await presentAccount(tenants, tenant)
    const isChanged = present?.accountSid === account.accountSid && present.authToken !== account.authToken
    if (!isChanged) throw err
    return request(present)
  }
}

/** Null where it cannot be found out, too. */
async function presentAccount(
  tenants: PresentTenants | undefined,
  { tenant_id: tenantId, telephony: { provider } }: TenantRuntime,
): Promise<CarrierAccount | null> {
  const present = await tenants?.get(tenantId).catch(() => null)
  return present?.telephony.provider === provider ? accountOf(present) : null
}
