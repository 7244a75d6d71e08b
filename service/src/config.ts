import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { isPhoneNumber, type PhoneNumber } from './kernel/phone.ts'
import type { TrustProxy } from './platform/http/trust.ts'

/** Where the data lives: PostgreSQL inside this process, or a server. */
export type DatabaseConfig = { kind: 'embedded'; folder: string } | { kind: 'server'; url: string }

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const

/** A setting as the operator sees it, and how its text becomes a value. */
type Setting<T> = {
  name: string
  /** As shown in the documentation; `unset` where nothing stands in for a missing value. */
  shownDefault: string
  meaning: string
  /** @throws Error whose message completes the sentence "NAME …". `undefined` means unset or empty. */
  read(text: string | undefined): T
}

const setting = <T>(s: Setting<T>): Setting<T> => s

/** Every setting there is. The documentation and `.env.example` are written from this table. */
export const SETTINGS = {
  host: setting({
    name: 'HOST',
    shownDefault: '127.0.0.1',
    meaning: 'The address to listen on; 0.0.0.0 for all of them.',
    read: (text = '127.0.0.1') => text,
  }),
  port: setting({
    name: 'PORT',
    shownDefault: '8080',
    meaning: 'The port to listen on; 0 takes a free one.',
    read: (text = '8080') => integer(text, 0, 65_535),
  }),
  publicUrl: setting({
    name: 'PUBLIC_URL',
    shownDefault: 'http://localhost:$PORT',
    meaning: 'The public base address of this service, as callers of its API reach it.',
    read: publicUrl,
  }),
  trustProxy: setting({
    name: 'TRUST_PROXY',
    shownDefault: 'unset',
    meaning:
      'The proxies whose X-Forwarded-* headers are believed: a number of hops, or addresses and CIDR ranges separated by commas. Unset believes none.',
    read: trustProxy,
  }),
  dataDir: setting({
    name: 'DATA_DIR',
    shownDefault: './data',
    meaning: 'The folder of the embedded database and its key.',
    read: (text = './data') => resolve(text),
  }),
  databaseUrl: setting({
    name: 'DATABASE_URL',
    shownDefault: 'unset',
    meaning:
      'A PostgreSQL server as postgres://user:password@host:port/name. Unset: PostgreSQL embedded in the service, in DATA_DIR.',
    read: databaseUrl,
  }),
  encryptionKey: setting({
    name: 'ENCRYPTION_KEY',
    shownDefault: 'unset (`npm start` writes one)',
    meaning:
      'Seals secrets at rest: 32 bytes in base64 (`openssl rand -base64 32`). Needed with DATABASE_URL; with the embedded database a missing one is made and kept in DATA_DIR/encryption.key.',
    read: encryptionKey,
  }),
  adminKey: setting({
    name: 'ADMIN_API_KEY',
    shownDefault: 'unset (`npm start` writes one)',
    meaning: 'The key of the admin API, sent as x-admin-key; at least 16 characters. Unset: the admin API answers 404.',
    read: (text) => atLeast(text, 16),
  }),
  legacyBearer: setting({
    name: 'LEGACY_TENANT_BEARER_AUTH_ENABLED',
    shownDefault: 'true',
    meaning: "Whether a tenant's raw auth_token is accepted as a bearer token beside its API keys.",
    read: (text = 'true') => boolean(text),
  }),
  telephonyAccountSid: setting({
    name: 'TELEPHONY_ACCOUNT_SID',
    shownDefault: 'unset',
    meaning: 'The carrier account of tenants whose document names none.',
    read: (text) => text ?? null,
  }),
  telephonyAuthToken: setting({
    name: 'TELEPHONY_AUTH_TOKEN',
    shownDefault: 'unset',
    meaning: "That account's auth token: it signs what the carrier sends.",
    read: (text) => text ?? null,
  }),
  telephonyFromNumber: setting({
    name: 'TELEPHONY_FROM_NUMBER',
    shownDefault: 'unset',
    meaning: 'The number, in E.164, that calls of tenants without one of their own come from.',
    read: phoneNumber,
  }),
  logLevel: setting({
    name: 'LOG_LEVEL',
    shownDefault: 'info',
    meaning: `How much is logged: ${LOG_LEVELS.join(', ')}.`,
    read: (text = 'info') => oneOf(text, LOG_LEVELS),
  }),
}

type Values = { [Key in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[Key]['read']> }

/** Every setting, read and checked, plus what follows from several of them. */
export type Config = Readonly<Values & { database: DatabaseConfig }>

/** What is wrong with the settings: a sentence for each, each naming its variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly faults: string[]

  constructor(faults: string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

/**
 * Reads all settings from the environment. An empty variable counts as unset.
 *
 * @throws ConfigError with every fault at once, contradictions between settings included.
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const faults: string[] = []
  const entries = Object.entries(SETTINGS).map(([key, { name, read }]) => {
    try {
      return [key, read(env[name]?.trim() || undefined)] as const
    } catch (error) {
      faults.push(`${name} ${(error as Error).message}`)
      return [key, undefined] as const
    }
  })
  // Sound: the keys are those of SETTINGS, and a value that could not be read ends in the throw below.
  const values = Object.fromEntries(entries) as Values
  faults.push(...contradictions(values))
  if (faults.length > 0) throw new ConfigError(faults)
  const { databaseUrl: url, dataDir } = values
  const database: DatabaseConfig = url ? { kind: 'server', url } : { kind: 'embedded', folder: dataDir }
  return Object.freeze({ ...values, database })
}

function contradictions(values: Partial<Values>): string[] {
  const faults: string[] = []
  if (values.databaseUrl && values.encryptionKey === null) {
    faults.push(
      'ENCRYPTION_KEY must be set when DATABASE_URL names a server: every node needs the same key. Make one with `openssl rand -base64 32`.',
    )
  }
  if (values.telephonyAccountSid && values.telephonyAuthToken === null) {
    faults.push(
      'TELEPHONY_AUTH_TOKEN must be set when TELEPHONY_ACCOUNT_SID is: without it nothing that the carrier sends can be verified.',
    )
  }
  if (values.telephonyAuthToken && values.telephonyAccountSid === null) {
    faults.push(
      'TELEPHONY_ACCOUNT_SID must be set when TELEPHONY_AUTH_TOKEN is: it names the account that the token belongs to.',
    )
  }
  if (values.adminKey && values.encryptionKey?.toString('base64') === values.adminKey) {
    faults.push(
      'ADMIN_API_KEY must not be the same as ENCRYPTION_KEY: whoever calls the admin API could open every sealed secret.',
    )
  }
  return faults
}

function integer(text: string, min: number, max: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new Error(`must be a whole number from ${min} to ${max}.`)
  return value
}

function boolean(text: string): boolean {
  return oneOf(text.toLowerCase(), ['true', 'false'] as const) === 'true'
}

function oneOf<const T extends string>(text: string, values: readonly T[]): T {
  const found = values.find((value) => value === text)
  if (found === undefined) throw new Error(`must be one of ${values.join(', ')}.`)
  return found
}

function atLeast(text: string | undefined, minChars: number): string | null {
  if (text !== undefined && text.length < minChars) throw new Error(`must have at least ${minChars} characters.`)
  return text ?? null
}

function phoneNumber(text: string | undefined): PhoneNumber | null {
  if (text === undefined) return null
  if (!isPhoneNumber(text)) throw new Error('must be a phone number in E.164, such as +12025550100.')
  return text
}

function publicUrl(text: string | undefined): string | null {
  if (text === undefined) return null
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol))
    throw new Error('must be an http or https address, such as https://voice.example.com.')
  if (url.pathname !== '/' || url.search || url.hash || url.username) {
    throw new Error('must be a bare origin, without path, query or user name, such as https://voice.example.com.')
  }
  return url.origin
}

function databaseUrl(text: string | undefined): string | null {
  if (text === undefined) return null
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^postgres(ql)?:$/.test(url.protocol) || !url.hostname || url.pathname.length < 2) {
    throw new Error('must be a PostgreSQL address, such as postgres://user:password@host:5432/parley.')
  }
  return text
}

function encryptionKey(text: string | undefined): Buffer | null {
  if (text === undefined) return null
  const key = Buffer.from(text, 'base64')
  if (key.length !== 32 || key.toString('base64') !== text) {
    throw new Error('must be 32 bytes in base64 (44 characters). Make one with `openssl rand -base64 32`.')
  }
  return key
}

function trustProxy(text: string | undefined): TrustProxy {
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
