import type { NumberAddresses } from '../platform/telephony/port.ts'

/** What a number of the carrier is to call. @param base the public address of the service, without a slash at its end. */
export function numberAddresses(base: string): NumberAddresses {
  return {
    voice: `${base}/api/v1/incoming-call`,
    fallback: `${base}/api/v1/call-resume`,
    status: `${base}/api/v1/call-status`,
  }
}
