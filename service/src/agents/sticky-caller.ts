import { isPhoneNumber } from '../kernel/phone.ts'

/** Users that carriers put into a SIP address of somebody who withholds theirs. */
const WITHHELD_SIP = /^sips?:(anonymous|restricted|unavailable|unknown|private)?@/i

/**
 * What the share of a rollout sticks to: whoever calls again talks to the same version. A caller who withholds the number is
 * nobody to be known again: then it is the call.
 */
export function stickyCaller({ from, callSid }: { from: string; callSid: string }): string {
  const isKnown = isPhoneNumber(from) || (/^sips?:[^@]+@/i.test(from) && !WITHHELD_SIP.test(from))
  return isKnown ? from : callSid
}
