import { phoneNumberOf } from '../kernel/phone.ts'

/** Users that carriers put into a SIP address of somebody who withholds theirs. */
const WITHHELD_SIP = /^sips?:(anonymous|restricted|unavailable|unknown|private)?@/i
/** A number in an address, in whatever grouping; what stands behind it says how to reach it. */
const NUMBER_IN_ADDRESS = /^(?:tel|sips?):(\+[-.() 0-9]+)(?:[;@].*)?$/i
const SIP = /^sips?:([^@]+)@([^;?]+)/i
const CLIENT = /^client:./

/**
 * What the share of a rollout sticks to: whoever calls again talks to the same version, by whatever way the number is written. A
 * caller who withholds the number is nobody to be known again: then it is the call.
 */
export function stickyCaller({ from, callSid }: { from: string; callSid: string }): string {
  const written = NUMBER_IN_ADDRESS.exec(from)?.[1]?.replaceAll(/[^+0-9]/g, '')
  const number = phoneNumberOf(written ?? from)
  if (number !== null) return number
  if (CLIENT.test(from)) return from
  const [, user, host] = WITHHELD_SIP.test(from) ? [] : (SIP.exec(from) ?? [])
  // A host is the same however it is written; its users need not be.
  return user === undefined ? callSid : `sip:${user}@${host?.toLowerCase()}`
}
