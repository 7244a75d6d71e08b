import type { NumberAddresses } from '../../service/src/platform/telephony/port.ts'
import type { CarrierNumber } from '../../service/src/platform/telephony/twilio/numbers.ts'

/** One setting of a number as it is and as it shall be. */
export type NumberSetting = { name: string; is: string; shallBe: string }

const NOTHING = '(nothing)'
const METHOD = 'POST'

/** The settings of a number that decide what happens to calls, changed or not. */
export function numberSettings(number: CarrierNumber, addresses: NumberAddresses): NumberSetting[] {
  const address = (name: string, is: CarrierNumber['voice'], url: string): NumberSetting => ({
    name,
    is: is === null ? NOTHING : `${is.method} ${is.url}`,
    shallBe: `${METHOD} ${url}`,
  })
  return [
    address('a call comes in', number.voice, addresses.voice),
    address('that address fails', number.fallback, addresses.fallback),
    address('a call has ended', number.status, addresses.status),
    ...(number.applicationSid === null ? [] : [{ name: 'application', is: number.applicationSid, shallBe: NOTHING }]),
  ]
}

/** Those that are not as they shall be. */
export function changesOf(settings: NumberSetting[]): NumberSetting[] {
  return settings.filter(({ is, shallBe }) => is !== shallBe)
}

/** Why calls to a number cannot reach the service whatever its addresses are; null when they can. */
export function unreachable({ takesCalls, trunkSid }: CarrierNumber): string | null {
  if (!takesCalls) return 'The number takes no calls, only messages: buy one with voice.'
  if (trunkSid === null) return null
  return `The number belongs to a SIP trunk (${trunkSid}), which takes all its calls: remove it from the trunk in the console.`
}
