import type { TelephonyDriver } from '../port.ts'
import { mediaStreamsCodec } from './codec.ts'
import { makeConnectNumber } from './connect-number.ts'
import { twiml } from './document.ts'
import { makeOutboundRequests } from './outbound.ts'
import { makeCallRequests } from './rest.ts'
import { hasSignature, isSigned, mayBeSigned } from './signature.ts'

/** Twilio, and whoever speaks its language. @param apiBaseUrl the REST base, such as `https://api.twilio.com`. */
export function twilioDriver({ apiBaseUrl }: { apiBaseUrl: string }): TelephonyDriver {
  const requests = makeCallRequests(apiBaseUrl)
  const outbound = makeOutboundRequests(apiBaseUrl)
  return {
    name: 'twilio',
    codec: mediaStreamsCodec,
    document: (verbs) => ({ body: twiml(verbs), contentType: 'text/xml; charset=utf-8' }),
    hasSignature,
    mayBeSigned,
    verify: isSigned,
    createCall: outbound.create,
    listCalls: outbound.list,
    endCall: requests.end,
    cancelCall: requests.cancel,
    updateCall: requests.update,
    fetchCall: requests.fetch,
    connectNumber: makeConnectNumber(apiBaseUrl),
  }
}
