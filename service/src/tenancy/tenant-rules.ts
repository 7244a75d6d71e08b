import { isSupportedCountry } from 'libphonenumber-js/max'
import { readNumber } from '../kernel/dialled-number.ts'
import { costlyKind } from '../kernel/premium-numbers.ts'

/** What else is read at an address below `tenants`. A tenant of this name could be written, and never read. */
const TAKEN_IDS = new Set(['audio-providers', 'cache-metrics', 'cached'])

/** Why no tenant can be called `id`, or null. */
export function tenantIdFault(id: string): string | null {
  return TAKEN_IDS.has(id) ? 'is the address of something else: take another one' : null
}

/** Why `address` cannot be asked, or null. A user name or password in it would be shown: it belongs into a secret. */
export function urlFault(address: string): string | null {
  const url = URL.parse(address)
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return 'must be an http or https address'
  return url.username || url.password ? 'must not hold a user name or password' : null
}

/** Why `zone` names no time zone, or null. Offsets such as `+01:00` are refused: they know no summer time. */
export function timeZoneFault(zone: string): string | null {
  const unknown = 'must be an IANA time zone, such as Europe/Berlin'
  if (!/^[A-Za-z]/.test(zone)) return unknown
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return null
  } catch {
    return unknown
  }
}

/** Why these are no hours of the day, or null. A span over midnight is one. */
export function callingHoursFault({ start, end }: { start: string; end: string }): string | null {
  if (start === '24:00') return 'must start before 24:00'
  return start === end ? 'must not start when they end: the whole day is 00:00 to 24:00' : null
}

/** Why `code` is no country that can be called, or null. */
export function countryFault(code: string): string | null {
  return isSupportedCountry(code) ? null : 'must be the ISO 3166 alpha-2 code of a country with a calling code'
}

/** Why nobody is put through to `number`, or null. A call that we cannot take goes there past the dial gate. */
export function fallbackFault(number: string): string | null {
  const kind = costlyKind(readNumber(number))
  return kind && `is ${kind}, and those are never called`
}

/** Why `token` is no legacy bearer token, or null: it has to travel in a header and must not be guessed. */
export function bearerFault(token: string): string | null {
  return /^[!-~]{16,200}$/.test(token) ? null : 'must have 16 to 200 visible ASCII characters, no spaces'
}

/** Why `secret` cannot sign webhooks, or null: Standard Webhooks wants 24 to 64 bytes behind `whsec_`. */
export function webhookSecretFault(secret: string): string | null {
  const [, encoded] = /^whsec_(.*)$/s.exec(secret) ?? []
  if (encoded === undefined) return secret.length >= 16 ? null : 'must have 16 to 200 characters'
  const key = Buffer.from(encoded, 'base64')
  const sound = key.toString('base64') === encoded && key.length >= 24 && key.length <= 64
  return sound ? null : 'must be 24 to 64 bytes in base64 behind whsec_'
}

/** Why `secret` is no credential at a provider, or null. */
export function credentialFault(secret: string): string | null {
  return /^[!-~]+$/.test(secret) ? null : 'must have visible ASCII characters only, no spaces'
}
