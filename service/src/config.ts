import { resolve } from 'node:path'
import { ADMIN_SETTINGS, adminContradictions } from './config-admin.ts'
import { DATABASE_SETTINGS, type DatabaseConfig, databaseContradictions, databaseOf } from './config-database.ts'
import { FALLBACK_SETTINGS, fallbackContradictions } from './config-fallback.ts'
import { MAIL_SETTINGS, mailContradictions } from './config-mail.ts'
import {
  atLeast,
  baseAddress,
  boolean,
  encryptionKey,
  headerSecret,
  headerText,
  httpAddress,
  integer,
  oneOf,
  phoneNumber,
  publicUrl,
  redisUrl,
  setting,
  socketAddress,
  trustProxy,
  webhookSecret,
} from './config-values.ts'
import { REALTIME_PROVIDERS } from './platform/realtime/registry.ts'

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const

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
    meaning:
      'The folder of the embedded database and its key, of what waits for a database that is away, of recordings and of event logs. One for each machine; the nodes of several share the folder recordings in it.',
    read: (text = './data') => resolve(text),
  }),
  ...DATABASE_SETTINGS,
  redisUrl: setting({
    name: 'REDIS_URL',
    shownDefault: 'unset',
    meaning:
      'A Redis as redis://user:password@host:6379 (rediss:// over TLS), which joins the nodes of one installation: live calls are reached from every node, and rate limits are counted together. Unset: one node.',
    read: redisUrl,
  }),
  rateLimitIp: setting({
    name: 'RATE_LIMIT_IP_PER_MINUTE',
    shownDefault: '60',
    meaning:
      'The requests without a valid credential that one address (IPv6: one /64) may make in a minute, failed credentials among them.',
    read: (text = '60') => integer(text, 1, 1_000_000),
  }),
  rateLimitTenant: setting({
    name: 'RATE_LIMIT_TENANT_PER_MINUTE',
    shownDefault: '1000',
    meaning:
      'The requests that one tenant may make in a minute; `limits.requests_per_minute` of its document is its own. What carriers sign, the admin API and the probes are not limited.',
    read: (text = '1000') => integer(text, 1, 1_000_000),
  }),
  encryptionKey: setting({
    name: 'ENCRYPTION_KEY',
    shownDefault: 'unset (`npm start` writes one)',
    meaning:
      'Seals secrets at rest: 32 bytes in base64 (`openssl rand -base64 32`). Needed with DATABASE_URL; with the embedded database a missing one is made and kept in DATA_DIR/encryption.key.',
    read: encryptionKey,
  }),
  encryptionKeyPrevious: setting({
    name: 'ENCRYPTION_KEY_PREVIOUS',
    shownDefault: 'unset',
    meaning:
      'The other key while ENCRYPTION_KEY is changed: what it has sealed is opened, too, and sealed anew with ENCRYPTION_KEY once that is the one of the database.',
    read: encryptionKey,
  }),
  adminKey: setting({
    name: 'ADMIN_API_KEY',
    shownDefault: 'unset (`npm start` writes one)',
    meaning:
      'The key of the admin API, sent as x-admin-key; at least 16 characters of ASCII. Unset: it is not accepted, and where nobody can log in either the admin API answers 404.',
    read: (text) => headerSecret(text, 16),
  }),
  ...ADMIN_SETTINGS,
  legacyBearer: setting({
    name: 'LEGACY_TENANT_BEARER_AUTH_ENABLED',
    shownDefault: 'true',
    meaning: "Whether a tenant's raw auth_token is accepted as a bearer token beside its API keys.",
    read: (text = 'true') => boolean(text),
  }),
  legacyQueryAuth: setting({
    name: 'LEGACY_QUERY_AUTH_ENABLED',
    shownDefault: 'false',
    meaning:
      'Whether a credential of a tenant is taken from `auth_token` in the query of the WebSockets /media-stream and /logs too. Proxies write addresses into their logs.',
    read: (text = 'false') => boolean(text),
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
  telephonyAuthTokenSecondary: setting({
    name: 'TELEPHONY_AUTH_TOKEN_SECONDARY',
    shownDefault: 'unset',
    meaning:
      'Another token of that account, while tokens are changed: what it signs is taken, too. Nothing is asked with it.',
    read: (text) => text ?? null,
  }),
  telephonyFromNumber: setting({
    name: 'TELEPHONY_FROM_NUMBER',
    shownDefault: 'unset',
    meaning: 'The number, in E.164, that calls of tenants without one of their own come from.',
    read: phoneNumber,
  }),
  telephonyApiUrl: setting({
    name: 'TELEPHONY_API_BASE_URL',
    shownDefault: 'https://api.twilio.com',
    meaning: "The base address of the carrier's REST API: another one for an emulator or a region.",
    read: (text = 'https://api.twilio.com') => baseAddress(text),
  }),
  realtimeProvider: setting({
    name: 'REALTIME_PROVIDER',
    shownDefault: 'openai',
    meaning: `Whose realtime model speaks in calls: ${REALTIME_PROVIDERS.join(', ')}.`,
    read: (text = 'openai') => oneOf(text, REALTIME_PROVIDERS),
  }),
  modelApiKey: setting({
    name: 'OPENAI_API_KEY',
    shownDefault: 'unset',
    meaning: 'The key of the realtime model. Unset: no agent can speak, and calls are told so.',
    read: headerText,
  }),
  modelUrl: setting({
    name: 'OPENAI_REALTIME_URL',
    shownDefault: 'wss://api.openai.com/v1/realtime',
    meaning: 'Where the realtime model is reached: any server that speaks its protocol.',
    read: (text = 'wss://api.openai.com/v1/realtime') => socketAddress(text),
  }),
  ...FALLBACK_SETTINGS,
  chatUrl: setting({
    name: 'OPENAI_BASE_URL',
    shownDefault: 'https://api.openai.com/v1',
    meaning:
      "Where the chat model is reached, with the same key: any server that speaks Chat Completions. Ended calls are scored there, and what agents always say is spoken by its speech endpoint. Where the realtime model is not OpenAI's own, there is no default.",
    read: (text) => (text === undefined ? null : baseAddress(text)),
  }),
  secondaryAudioKey: setting({
    name: 'SECONDARY_AUDIO_API_KEY',
    shownDefault: 'unset',
    meaning:
      'The key of the secondary provider of voices, which speaks for tenants whose `audio_output` asks for it. Unset: the model speaks for them, too.',
    read: headerText,
  }),
  secondaryAudioUrl: setting({
    name: 'SECONDARY_AUDIO_URL',
    shownDefault: 'wss://api.elevenlabs.io/v1/text-to-speech',
    meaning: 'Where that provider streams speech: the address of any server that speaks the protocol of ElevenLabs.',
    read: (text = 'wss://api.elevenlabs.io/v1/text-to-speech') => socketAddress(text),
  }),
  modelSessionMaxMinutes: setting({
    name: 'MODEL_SESSION_MAX_MINUTES',
    shownDefault: '50',
    meaning: 'A model session older than this is renewed between two turns, before its provider ends it.',
    read: (text = '50') => integer(text, 1, 1_440),
  }),
  streamTokenSecret: setting({
    name: 'STREAM_TOKEN_SECRET',
    shownDefault: 'derived from ENCRYPTION_KEY',
    meaning: 'Signs the tokens that open media streams; at least 16 characters, the same on every node.',
    read: (text) => atLeast(text, 16),
  }),
  streamTokenSecretPrevious: setting({
    name: 'STREAM_TOKEN_SECRET_PREVIOUS',
    shownDefault: 'unset',
    meaning: 'The next secret, or the one before: tokens that it signed are taken as well while secrets are changed.',
    read: (text) => atLeast(text, 16),
  }),
  streamTokenTtlSeconds: setting({
    name: 'STREAM_TOKEN_TTL_SECONDS',
    shownDefault: '120',
    meaning:
      'How long a token can open a stream, from the moment at which it is handed out; at another node than that which gave it five minutes longer, as its clock may be behind.',
    read: (text = '120') => integer(text, 5, 3_600),
  }),
  billingUrl: setting({
    name: 'BILLING_WEBHOOK_URL',
    shownDefault: 'unset',
    meaning:
      'Where what each call cost is posted, like a webhook. Unset: the outcomes wait, and their sweep answers 503.',
    read: (text) => (text === undefined ? null : httpAddress(text)),
  }),
  billingSecret: setting({
    name: 'BILLING_WEBHOOK_SECRET',
    shownDefault: 'unset',
    meaning:
      'Signs what is posted there: `whsec_` and 24 to 64 bytes in base64, or at least 16 characters. Unset: it is posted unsigned, and the log says so at the start.',
    read: webhookSecret,
  }),
  ...MAIL_SETTINGS,
  standby: setting({
    name: 'STANDBY',
    shownDefault: 'false',
    meaning:
      'true: this process brings the schema up to date, shows what there is and lets configuration be changed, and does nothing else: it places, takes and brings back no calls, delivers nothing, sweeps and erases nothing, and is no node. For a copy of a database that is in use.',
    read: (text = 'false') => boolean(text),
  }),
  sweepIntervalSeconds: setting({
    name: 'SWEEP_INTERVAL_SECONDS',
    shownDefault: '30',
    meaning:
      'How often is done by itself what nobody has to ask for: sweeps of what operators work on, counts, judgements of rollouts, tasks of missed calls, and what is to be erased or deleted. 0: what has an endpoint is left to it. What has none is done every five minutes at least.',
    read: (text = '30') => integer(text, 0, 86_400),
  }),
  outboundAllowPrivate: setting({
    name: 'OUTBOUND_ALLOW_PRIVATE_NETWORKS',
    shownDefault: 'false',
    meaning:
      'Whether the addresses that tenants name (of webhooks, tools, decisions, ticket systems and `hold_audio`) may lie in private networks and on this machine. The metadata services of clouds stay out of reach.',
    read: (text = 'false') => boolean(text),
  }),
  eventLogs: setting({
    name: 'EVENT_LOGS',
    shownDefault: 'true',
    meaning:
      'Whether what happens in a session is kept in DATA_DIR/event-logs, so that `npm run replay` can run it again. Nothing that is said is in it, and no audio; it goes with the session.',
    read: (text = 'true') => boolean(text),
  }),
  maxCalls: setting({
    name: 'MAX_CALLS',
    shownDefault: '300',
    meaning:
      'The calls that this process takes at a time; it places no more than it could take if all were answered that ring. It uses one core: run more processes on a bigger machine.',
    read: (text = '300') => integer(text, 0, 10_000),
  }),
  drainSeconds: setting({
    name: 'DRAIN_SECONDS',
    shownDefault: '3600',
    meaning: 'How long live calls may go on once the service was told to stop (SIGTERM); then they are ended.',
    read: (text = '3600') => integer(text, 0, 86_400),
  }),
  simulator: setting({
    name: 'SIMULATOR',
    shownDefault: 'off (`npm start` writes `on`)',
    meaning:
      'on: a rehearsal. A simulator is started beside the service and stands in for every provider without an account; while PUBLIC_URL is a loopback address, callbacks of tenants without a carrier token are taken unsigned.',
    read: (text = 'off') => oneOf(text.toLowerCase(), ['on', 'off'] as const) === 'on',
  }),
  logLevel: setting({
    name: 'LOG_LEVEL',
    shownDefault: 'info',
    meaning: `How much is logged: ${LOG_LEVELS.join(', ')}.`,
    read: (text = 'info') => oneOf(text, LOG_LEVELS),
  }),
}

/** Every variable that is read. */
export const SETTING_NAMES: readonly string[] = Object.values(SETTINGS).map(({ name }) => name)

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
  // Who stands by joins nobody.
  const redisUrl = values.standby ? null : values.redisUrl
  return Object.freeze({ ...values, redisUrl, database: databaseOf(values.databaseUrl, values.dataDir) })
}

function contradictions(values: Partial<Values>): string[] {
  const faults: string[] = [
    ...adminContradictions(values),
    ...databaseContradictions(values),
    ...mailContradictions(values),
    ...fallbackContradictions(values),
  ]
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
  if (values.telephonyAuthTokenSecondary && values.telephonyAuthToken === null) {
    faults.push(
      'TELEPHONY_AUTH_TOKEN must be set when TELEPHONY_AUTH_TOKEN_SECONDARY is: nothing is asked with the second one.',
    )
  }
  if (values.billingSecret && values.billingUrl === null) {
    faults.push('BILLING_WEBHOOK_URL must be set when BILLING_WEBHOOK_SECRET is: there is nothing to sign.')
  }
  if (values.streamTokenSecretPrevious && values.streamTokenSecretPrevious === values.streamTokenSecret) {
    faults.push('STREAM_TOKEN_SECRET_PREVIOUS must not be the same as STREAM_TOKEN_SECRET: leave it empty.')
  }
  if (values.adminKey && values.encryptionKey?.toString('base64') === values.adminKey) {
    faults.push(
      'ADMIN_API_KEY must not be the same as ENCRYPTION_KEY: whoever calls the admin API could open every sealed secret.',
    )
  }
  return faults
}
