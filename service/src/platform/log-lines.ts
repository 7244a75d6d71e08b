import { maskPhone, scrub } from '../kernel/masks.ts'

/** A shorter secret would blot out ordinary words. */
const MIN_SECRET_LENGTH = 6

/** Fields whose text is a credential whatever it looks like: `authorization`, `auth_token`, `apiKey`, `webhook.secret` … */
const CREDENTIAL_NAME = /(?:authorization|cookie|password|passphrase|secret|token|(?:api|admin|encryption)[-_]?key)$/i

/** Fields that may hold a phone number, which need not have the `+` that tells it in a text. */
const PHONE_NAME = /(?:phone|number|caller|callee)$|^(?:from|to)$/i

/** Nine digits at least: a date has eight. */
const BARE_NUMBER = /^\+?[\s().-]{0,3}(?:\d[\s().-]{0,2}){9,}$/

/**
 * Makes the function that every finished line of the log passes: the last line of defence for what should not have been
 * logged in the first place.
 *
 * It reads the line and writes it anew rather than replacing in its text, so that no replacement can cut an escape in two
 * and what comes out is JSON for certain.
 */
export function makeLineCleaner(secrets: string[]): (line: string) => string {
  const secretPattern = anyOf(secrets)
  const cleanText = (text: string) => scrub(secretPattern ? text.replace(secretPattern, '***') : text)
  return (line) => `${JSON.stringify(clean(JSON.parse(line), cleanText))}\n`
}

function clean(value: unknown, cleanText: (text: string) => string): unknown {
  if (typeof value === 'string') return cleanText(value)
  if (Array.isArray(value)) return value.map((item) => clean(item, cleanText))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [cleanText(name), cleanMember(name, member, cleanText)])
  return Object.fromEntries(members)
}

function cleanMember(name: string, value: unknown, cleanText: (text: string) => string): unknown {
  if (name === 'pii') return '[redacted]'
  if (typeof value !== 'string') return clean(value, cleanText)
  if (CREDENTIAL_NAME.test(name)) return '***'
  return cleanText(PHONE_NAME.test(name) && BARE_NUMBER.test(value) ? maskPhone(value) : value)
}

/** One pattern for all secrets, as they are and as they stand in a URL; the longest first, lest a part of one be left. */
function anyOf(secrets: string[]): RegExp | null {
  const texts = secrets
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    .sort((a, b) => b.length - a.length)
  return texts.length === 0 ? null : new RegExp([...new Set(texts)].map(RegExp.escape).join('|'), 'g')
}
