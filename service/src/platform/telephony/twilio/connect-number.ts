import { type CarrierAccount, CarrierError, type NumberAddresses, type NumberConnection } from '../port.ts'
import { type CarrierNumber, makeNumberRequests } from './numbers.ts'

/** Makes a number of the account call these addresses. @param baseUrl the REST base, such as `https://api.twilio.com`. */
export function makeConnectNumber(baseUrl: string) {
  const requests = makeNumberRequests(baseUrl)
  return async (
    account: CarrierAccount,
    phoneNumber: string,
    addresses: NumberAddresses,
    signal: AbortSignal,
  ): Promise<NumberConnection> => {
    const number = await requests.find(account, phoneNumber, signal)
    if (number === null) return 'not_owned'
    if (!number.takesCalls) return 'takes_no_calls'
    if (number.trunkSid !== null) return 'in_trunk'
    const changed = await requests.connect(account, number, addresses, signal)
    if (!isConnected(changed, addresses)) {
      throw new CarrierError('unknown', 'The carrier took the request and kept the old addresses of the number.')
    }
    return 'connected'
  }
}

/** What the carrier says that it has now is what counts, not that it answered well. */
function isConnected({ applicationSid, ...number }: CarrierNumber, addresses: NumberAddresses): boolean {
  const isSet = (part: keyof NumberAddresses) =>
    number[part]?.url === addresses[part] && number[part].method.toUpperCase() === 'POST'
  return applicationSid === null && isSet('voice') && isSet('fallback') && isSet('status')
}
