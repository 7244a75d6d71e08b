import { type CarrierAccount, CarrierError } from '../port.ts'
import { requestCarrier } from './request.ts'

/** How an account stands with the carrier. */
export type AccountStanding = {
  /** `active`, or why it cannot be used: `suspended`, `closed`. */
  status: string
  /** A trial speaks an announcement into each call and connects verified numbers only. */
  isTrial: boolean
}

/**
 * Asks how the account stands: the cheapest request that shows whether the credentials are right.
 *
 * @param baseUrl the REST base, such as `https://api.twilio.com`.
 * @throws CarrierError.
 */
export async function fetchAccount(
  baseUrl: string,
  account: CarrierAccount,
  signal: AbortSignal,
): Promise<AccountStanding> {
  const url = `${baseUrl}/2010-04-01/Accounts/${encodeURIComponent(account.accountSid)}.json`
  const { status, type } = await requestCarrier(account, { url, signal })
  if (typeof status !== 'string') throw new CarrierError('unknown', 'The carrier sent an account without its status.')
  return { status, isTrial: type === 'Trial' }
}
