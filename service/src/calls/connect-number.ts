import { type Clock, withDeadline } from '../kernel/clock.ts'
import { AppError, invalidRequest } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { type CarrierAccount, CarrierError, type NumberConnection } from '../platform/telephony/port.ts'
import type { Carriers } from '../platform/telephony/registry.ts'
import { knownTenant } from '../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { accountOf } from './carrier-account.ts'
import { numberAddresses } from './number-addresses.ts'

/**
 * Has the carrier of a tenant send the calls of a number to this service. Repeating it changes nothing.
 *
 * @throws AppError `invalid_request` for a number that cannot be connected, or not from here; `upstream_failed` when the carrier
 *   did not do it.
 */
export type ConnectNumber = (tenantId: TenantId, phoneNumber: PhoneNumber) => Promise<void>

type Deps = {
  clock: Clock
  carriers: Carriers
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  /** The public address of this service. */
  publicUrl: () => string
  /** Why the carrier cannot use that, as a sentence; null when it can. */
  addressFault: () => string | null
}

/** Two requests; the carrier answers each within a second or two, or not at all. */
const TIMEOUT_MS = 10_000

const WRONG_NUMBERS: Record<Exclude<NumberConnection, 'connected'>, string> = {
  not_owned: "is not a number of the tenant's carrier account",
  takes_no_calls: 'takes no calls, only messages',
  in_trunk: 'belongs to a SIP trunk of the carrier account, which takes all its calls: remove it from there first',
}

export function makeConnectNumber({ clock, carriers, tenants, publicUrl, addressFault }: Deps): ConnectNumber {
  async function ask(tenant: TenantRuntime, account: CarrierAccount, number: PhoneNumber): Promise<NumberConnection> {
    const carrier = carriers[tenant.telephony.provider]
    const addresses = numberAddresses(publicUrl())
    const connect = (signal: AbortSignal) => carrier.connectNumber(account, number, addresses, signal)
    return withDeadline(clock, TIMEOUT_MS, connect).catch((error: unknown) => {
      throw failed(error)
    })
  }

  return async (tenantId, phoneNumber) => {
    const tenant = await knownTenant(tenants, tenantId)
    const account = accountOf(tenant)
    if (!account) throw impossible('needs a carrier account: set telephony.account_sid and telephony.auth_token')
    const fault = addressFault()
    if (fault !== null) throw impossible(`is of no use: ${fault.replace(/\.$/, '')}`)
    const connection = await ask(tenant, account, phoneNumber)
    if (connection === 'connected') return
    throw invalidRequest([{ path: '/body/phone_number', message: WRONG_NUMBERS[connection] }])
  }
}

function impossible(message: string): AppError {
  return invalidRequest([{ path: '/body/configure_carrier', message }])
}

function failed(error: unknown): unknown {
  if (!(error instanceof CarrierError)) return error
  const sentence = `The carrier did not connect the number: ${error.message.replace(/\.$/, '')}. The route was not changed.`
  return new AppError('upstream_failed', sentence, { cause: error })
}
