// How the text of a setting becomes a value. Each throws an Error whose message completes the sentence "NAME …", and never
// repeats the text: it may be a secret.
import { isIP } from 'node:net'
import { isEmail } from './kernel/email.ts'
import { isPhoneNumber, type PhoneNumber, phoneFault } from './kernel/phone.ts'
import type { TrustProxy } from './platform/http/trust.ts'
import { webhookSecretFault } from './tenancy/tenant-rules.ts'

/** A setting as the operator sees it, and how its text becomes a value. */
export type Setting<T> = {
  name: string
  /** As shown in the documentation; `unset` where nothing stands in for a missing value. */
  shownDefault: string
  meaning: string
  /** @throws Error whose message completes the sentence "NAME …". `undefined` means unset or empty. */
  read(text: string | undefined): T
}

/** Names the type of a setting's value. */
export const setting = <T>(s: Setting<T>): Setting<T> => s

/** A whole number within bounds, both included. */
export function integer(text: string, min: number, max: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new Error(`must be a whole number from ${min} to ${max}.`)
  return value
}

/** `true` or `false`, in any case. */
export function boolean(text: string): boolean {
  return oneOf(text.toLowerCase(), ['true', 'false'] as const) === 'true'
}

/** One of these words. */
export function oneOf<const T extends string>(text: string, values: readonly T[]): T {
  const found = values.find((value) => value === text)
  if (found === undefined) throw new Error(`must be one of ${values.join(', ')}.`)
  return found
}

/** A secret of some length, or null. */
export function atLeast(text: string | undefined, minChars: number): string | null {
  if (text !== undefined && text.length < minChars) throw new Error(`must have at least ${minChars} characters.`)
  return text ?? null
}

/** A text of some length, both bounds included, or null. */
export function within(text: string | undefined, minChars: number, maxChars: number): string | null {
  if (text !== undefined && text.length > maxChars) throw new Error(`must have at most ${maxChars} characters.`)
  return atLeast(text, minChars)
}

/** What can stand in an HTTP header, or null. */
export function headerText(text: string | undefined): string | null {
  if (text !== undefined && !/^[\x21-\x7e]+$/.test(text)) throw new Error('must be visible ASCII, without spaces.')
  return text ?? null
}

/** A secret of some length that clients send in a header, or null: what is not ASCII arrives as something else. */
export function headerSecret(text: string | undefined, minChars: number): string | null {
  if (text !== undefined && !/^[\x20-\x7e]+$/.test(text)) throw new Error('must be visible ASCII.')
  return atLeast(text, minChars)
}

/** A secret that signs webhooks, or null. */
export function webhookSecret(text: string | undefined): string | null {
  const fault = text === undefined ? null : webhookSecretFault(text)
  if (fault) throw new Error(`${fault}.`)
  return text ?? null
}

/** A number in E.164, or null. */
export function phoneNumber(text: string | undefined): PhoneNumber | null {
  if (text === undefined) return null
  if (!isPhoneNumber(text)) throw new Error(`${phoneFault(text)}.`)
  return text
}

/** An e-mail address without a name, or null. */
export function email(text: string | undefined): string | null {
  if (text !== undefined && !isEmail(text)) throw new Error('must be an e-mail address, such as parley@example.com.')
  return text ?? null
}

/** E-mail addresses separated by commas; none where there is no text. */
export function emails(text: string | undefined): string[] {
  const all = text?.split(',').map((each) => each.trim()) ?? []
  if (!all.every(isEmail)) throw new Error('must be e-mail addresses, separated by commas.')
  return all
}

const THIS_MACHINE = /^(localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/

/** An https address, or one of http on this machine, to the character; or null. */
export function issuerUrl(text: string | undefined): string | null {
  if (text === undefined) return null
  const url = URL.canParse(text) ? new URL(text) : null
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && THIS_MACHINE.test(url.hostname))
  if (!url || !isSafe || url.search || url.hash || hasLogin(url)) {
    throw new Error('must be an https address, such as https://login.example.com (http on this machine alone).')
  }
  return text
}

/** An smtp or smtps address, or null. */
export function smtpUrl(text: string | undefined): string | null {
  if (text === undefined) return null
  const url = URL.canParse(text) ? new URL(text) : null
  const isServer = url && /^smtps?:$/.test(url.protocol) && url.hostname && /^\/?$/.test(url.pathname)
  if (!isServer || url.search || url.hash || (url.username === '') !== (url.password === '')) {
    throw new Error('must be an SMTP address, such as smtp://user:password@mail.example.com:587 (smtps:// over TLS).')
  }
  expectDecodable(url)
  return text
}

/** An http or https origin without anything behind it, or null. */
export function publicUrl(text: string | undefined): string | null {
  if (text === undefined) return null
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol))
    throw new Error('must be an http or https address, such as https://voice.example.com.')
  if (url.pathname !== '/' || url.search || url.hash || hasLogin(url)) {
    throw new Error('must be a bare origin, without path, query or user name, such as https://voice.example.com.')
  }
  return url.origin
}

/** An http or https address, as it stands. */
export function httpAddress(text: string): string {
  return address(text, /^https?:$/, 'an http or https address, such as https://billing.example.com/outcomes')
}

/** An http or https address, without the slash at its end, so that a path can follow. */
export function baseAddress(text: string): string {
  const kept = address(text, /^https?:$/, 'an http or https address, such as https://api.twilio.com')
  if (/[?#]/.test(kept)) throw new Error('must be an address without a query: paths follow it.')
  return withoutSlash(kept)
}

/** A ws or wss address, without the slash at its end. */
export function socketAddress(text: string): string {
  return withoutSlash(address(text, /^wss?:$/, 'a ws or wss address, such as wss://api.openai.com/v1/realtime'))
}

function address(text: string, scheme: RegExp, wanted: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !scheme.test(url.protocol) || url.hash || hasLogin(url)) throw new Error(`must be ${wanted}.`)
  return text
}

function hasLogin({ username, password }: URL): boolean {
  return username !== '' || password !== ''
}

/** Whoever logs in with them decodes them, far from here, and would fail with words that name no setting. */
function expectDecodable({ username, password, hostname, pathname }: URL): void {
  try {
    for (const part of [username, password, hostname, pathname]) decodeURIComponent(part)
  } catch {
    throw new Error('must have each % that stands for itself written as %25.')
  }
}

function withoutSlash(text: string): string {
  return text.replace(/\/+$/, '')
}

/** The address of a PostgreSQL database, `none`, or null. */
export function databaseUrl(text: string | undefined): string | null {
  if (text === undefined || text === 'none') return text ?? null
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^postgres(ql)?:$/.test(url.protocol) || !url.hostname || url.pathname.length < 2) {
    throw new Error('must be a PostgreSQL address, such as postgres://user:password@host:5432/parley, or none.')
  }
  expectReadableTls(url.searchParams)
  if (!KEPT_AS_IT_STANDS.test(text)) expectDecodable(url)
  return text
}

/** Where a % begins nothing, `pg` decodes none of them. */
const KEPT_AS_IT_STANDS = / |%[^a-f0-9]|%[a-f0-9][^a-f0-9]/i

/** What begins so in the address of a database is about TLS, in whatever case. */
const OF_TLS = /^(ssl|tls)/i
/** With any of these `pg` uses TLS, or was told not to. */
const ASKS_FOR_TLS = new Set(['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation'])
/** What PostgreSQL's own programs read as well: an address may be for both. */
const READ_BY_OTHERS = new Set([
  ...['sslpassword', 'sslcrl', 'sslcrldir', 'sslcompression', 'sslsni', 'sslcertmode'],
  ...['ssl_min_protocol_version', 'ssl_max_protocol_version'],
])
const SSL_VALUES = new Set<string | null>([null, 'true', '1', '0', 'no-verify'])

/** Where the one that asks for it is misspelt, the connection would be plain, and its password anybody's, without a word. */
function expectReadableTls(parameters: URLSearchParams): void {
  const names = [...parameters.keys()].filter((name) => OF_TLS.test(name) && !READ_BY_OTHERS.has(name))
  if (names.length > 0 && !names.some((name) => ASKS_FOR_TLS.has(name)))
    throw new Error('must have sslmode and sslrootcert written like this: what is called otherwise asks for no TLS.')
  if (!SSL_VALUES.has(parameters.get('ssl')))
    throw new Error('must have sslmode in place of ssl, which is true or no-verify.')
}

/** The address of a Redis, or null. */
export function redisUrl(text: string | undefined): string | null {
  if (text === undefined) return null
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^rediss?:$/.test(url.protocol) || !url.hostname || !/^(\/\d{0,3})?$/.test(url.pathname) || url.search) {
    throw new Error(
      'must be a Redis address, such as redis://user:password@host:6379, or redis://host:6379/1 for its database 1 (rediss:// over TLS).',
    )
  }
  expectDecodable(url)
  return text
}

/** 32 bytes in base64, or null. */
export function encryptionKey(text: string | undefined): Buffer | null {
  if (text === undefined) return null
  const key = Buffer.from(text, 'base64')
  if (key.length !== 32 || key.toString('base64') !== text) {
    throw new Error('must be 32 bytes in base64 (44 characters). Make one with `openssl rand -base64 32`.')
  }
  return key
}

/** Proxies as a number of hops, or as addresses and ranges; `false` for none. */
export function trustProxy(text: string | undefined): TrustProxy {
  if (text === undefined) return false
  if (/^\d+$/.test(text)) return integer(text, 0, 10) || false
  const ranges = text.split(',').map((range) => range.trim())
  if (!ranges.every(isRange)) {
    throw new Error('must be a number of hops (0 to 10), or addresses and CIDR ranges separated by commas.')
  }
  return ranges
}

function isRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

/** A SHA-256 in hexadecimal, in lower case, or null. */
export function sha256Hex(text: string | undefined): string | null {
  if (text !== undefined && !/^[0-9a-f]{64}$/i.test(text))
    throw new Error('must be a SHA-256 in hexadecimal (64 characters).')
  return text?.toLowerCase() ?? null
}
