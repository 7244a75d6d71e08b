import { describe, expect, it } from 'vitest'
import { ConfigError, readConfig, SETTINGS } from './config.ts'

const KEY = Buffer.alloc(32, 7).toString('base64')

function faultsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
  return []
}

describe('readConfig', () => {
  it('runs on nothing but defaults, with the embedded database', () => {
    const config = readConfig({})
    expect(config).toMatchObject({ host: '127.0.0.1', port: 8080, publicUrl: null, trustProxy: false, adminKey: null })
    expect(config.database).toEqual({ kind: 'embedded', folder: config.dataDir })
  })

  it('takes an empty variable as unset, whichever it is', () => {
    expect(readConfig({ PORT: '', ADMIN_API_KEY: '  ' })).toMatchObject({ port: 8080, adminKey: null })
    const empty = Object.values(SETTINGS).map(({ name }) => [name, ''])
    expect(readConfig(Object.fromEntries(empty))).toEqual(readConfig({}))
  })

  it('uses a server when DATABASE_URL names one', () => {
    const url = 'postgres://parley:secret@db:5432/parley'
    expect(readConfig({ DATABASE_URL: url, ENCRYPTION_KEY: KEY }).database).toEqual({ kind: 'server', url })
  })

  it.each(['sslmod=verify-full', 'SSLMODE=require', 'ssl_mode=require', 'sslRootCert=/ca.pem', 'tls=true'])(
    'refuses a database whose address asks for TLS in a way that nobody reads: ?%s',
    (parameter) => {
      const DATABASE_URL = `postgres://parley:secret@db/parley?application_name=voice&${parameter}`
      expect(faultsOf({ DATABASE_URL, ENCRYPTION_KEY: KEY })).toEqual([
        expect.stringMatching(/^DATABASE_URL must have sslmode and sslrootcert written like this: .+\.$/),
      ])
    },
  )

  it.each([
    'sslmode=verify-full&sslrootcert=/ca.pem',
    'sslmode=no-verify',
    'sslmode=verify-full&sslaccept=strict',
    'ssl=true',
    'ssl_min_protocol_version=TLSv1.2',
    'options=-c%20search_path%3Dparley',
  ])('takes what a database may be told by its address: ?%s', (parameters) => {
    const DATABASE_URL = `postgres://parley:secret@db/parley?${parameters}`
    expect(faultsOf({ DATABASE_URL, ENCRYPTION_KEY: KEY })).toEqual([])
  })

  it.each(['100%secret', '100%25secret', 'gr%C3%BCn', '100%2'])(
    'takes %s as the password of a database',
    (password) => {
      const DATABASE_URL = `postgres://parley:${password}@db/parley`
      expect(faultsOf({ DATABASE_URL, ENCRYPTION_KEY: KEY })).toEqual([])
    },
  )

  it('reads proxies as hops or as ranges', () => {
    expect(readConfig({ TRUST_PROXY: '2' }).trustProxy).toBe(2)
    expect(readConfig({ TRUST_PROXY: '0' }).trustProxy).toBe(false)
    expect(readConfig({ TRUST_PROXY: '10.0.0.0/8, ::1' }).trustProxy).toEqual(['10.0.0.0/8', '::1'])
  })

  it('keeps an address that is posted to as it stands, and makes a path fit behind the base of others', () => {
    const BILLING_WEBHOOK_URL = 'https://billing.example.com/outcomes/?from=parley'
    expect(readConfig({ BILLING_WEBHOOK_URL })).toMatchObject({ billingUrl: BILLING_WEBHOOK_URL })
    expect(readConfig({ BILLING_WEBHOOK_URL: 'https://billing.example.com/outcomes/' })).toMatchObject({
      billingUrl: 'https://billing.example.com/outcomes/',
    })
    const base = 'https://api.example.com/v1/'
    expect(readConfig({ TELEPHONY_API_BASE_URL: base, OPENAI_BASE_URL: base })).toMatchObject({
      ...{ telephonyApiUrl: 'https://api.example.com/v1', chatUrl: 'https://api.example.com/v1' },
    })
  })

  it.each([
    ['PORT', '80a'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PUBLIC_URL', 'voice.example.com'],
    ['PUBLIC_URL', 'https://voice.example.com/base'],
    ['PUBLIC_URL', 'ftp://voice.example.com'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', 'all'],
    ['DATABASE_URL', 'mysql://db/parley'],
    ['DATABASE_URL', 'postgres://db'],
    ['DATABASE_URL', 'postgres://db/parley?ssl=require'],
    ['DATABASE_URL', 'postgres://parley:100%ff@db/parley'],
    ['DATABASE_URL', 'postgres://parley:secret@db/parley%E4'],
    ['ENCRYPTION_KEY', 'short'],
    ['ENCRYPTION_KEY_PREVIOUS', 'short'],
    ['ENCRYPTION_KEY', `${KEY}\u00e9`],
    ['ADMIN_API_KEY', 'too short'],
    ['ADMIN_API_KEY', 'schl\u00fcssel-zum-haus'],
    ['ADMIN_USERNAME', 'a'.repeat(255)],
    ['ADMIN_PASSWORD', 'too short'],
    ['ADMIN_PASSWORD', 'a'.repeat(201)],
    ['BILLING_WEBHOOK_SECRET', '***'],
    ['LEGACY_TENANT_BEARER_AUTH_ENABLED', 'yes'],
    ['STANDBY', 'yes'],
    ['LOG_LEVEL', 'loud'],
    ['TELEPHONY_FROM_NUMBER', '2025550100'],
    ['TELEPHONY_API_BASE_URL', 'api.twilio.com'],
    ['TELEPHONY_API_BASE_URL', 'wss://api.twilio.com'],
    ['TELEPHONY_API_BASE_URL', 'https://api.twilio.com/?region=ie1'],
    ['OPENAI_BASE_URL', 'https://api.openai.com/v1#'],
    ['REALTIME_PROVIDER', 'parrot'],
    ['OPENAI_API_KEY', 'sk-\u00e9'],
    ['OPENAI_REALTIME_URL', 'https://api.openai.com/v1/realtime'],
    ['OPENAI_REALTIME_URL', 'wss://user:secret@api.openai.com/v1/realtime'],
    ['OPENAI_REALTIME_URL', 'wss://:secret@api.openai.com/v1/realtime'],
    ['TELEPHONY_API_BASE_URL', 'https://:secret@api.twilio.com'],
    ['PUBLIC_URL', 'https://:secret@voice.example.com'],
    ['REALTIME_FALLBACK_API_KEY', 'sk-\u00e9'],
    ['REDIS_URL', 'redis://parley:100%secret@db:6379'],
    ['MODEL_SESSION_MAX_MINUTES', '0'],
    ['STREAM_TOKEN_SECRET', 'too short'],
    ['STREAM_TOKEN_SECRET_PREVIOUS', 'too short'],
    ['STREAM_TOKEN_TTL_SECONDS', '4'],
    ['MAX_CALLS', '-1'],
    ['DRAIN_SECONDS', '1h'],
    ['SIMULATOR', 'yes'],
    ['NOTIFY_SMTP_URL', 'mail.example.com'],
    ['NOTIFY_SMTP_URL', 'https://mail.example.com'],
    ['NOTIFY_SMTP_URL', 'smtp://user@mail.example.com'],
    ['NOTIFY_SMTP_URL', 'smtp://parley:100%secret@mail.example.com'],
    ['NOTIFY_FROM', 'Parley <parley@example.com>'],
    ['NOTIFY_TO', 'ops@example.com, nobody'],
    ['OIDC_ISSUER_URL', 'login.example.com'],
    ['OIDC_ISSUER_URL', 'http://login.example.com'],
    ['OIDC_ISSUER_URL', 'https://login.example.com/?tenant=1'],
    ['OIDC_ISSUER_URL', 'https://:secret@login.example.com'],
    ['OIDC_ALLOWED_EMAILS', '@example.com'],
  ])('refuses %s=%s in a sentence that names the variable', (name, value) => {
    expect(faultsOf({ [name]: value })).toEqual([
      expect.stringMatching(new RegExp(`^${name} must be .+\\.|^${name} must have .+\\.`)),
    ])
  })

  it('says of a Redis address whose path is no number what may stand there', () => {
    const fault = expect.stringMatching(/^REDIS_URL must be .+redis:\/\/host:6379\/1 for its database 1/)
    expect(faultsOf({ REDIS_URL: 'redis://db:6379/parley' })).toEqual([fault])
    expect(readConfig({ REDIS_URL: 'redis://db:6379/1' })).toMatchObject({ redisUrl: 'redis://db:6379/1' })
  })

  it('says of a number with the 0 of its own country how it is written', () => {
    const fault = expect.stringMatching(/^TELEPHONY_FROM_NUMBER must be .+ without the prefix .+\.$/)
    expect(faultsOf({ TELEPHONY_FROM_NUMBER: '+4402079460000' })).toEqual([fault])
  })

  it('never repeats a bad value, because it may be a secret', () => {
    expect(faultsOf({ ENCRYPTION_KEY: 'hunter2-hunter2' }).join()).not.toContain('hunter2')
  })

  it('tells every fault at once', () => {
    expect(faultsOf({ PORT: 'x', LOG_LEVEL: 'loud' })).toHaveLength(2)
  })

  it('refuses a server without a key that all its nodes share', () => {
    expect(faultsOf({ DATABASE_URL: 'postgres://u:p@db:5432/parley' })).toEqual([
      expect.stringMatching(/^ENCRYPTION_KEY must be set when DATABASE_URL/),
    ])
  })

  it('refuses what joins nodes, or people, by a database where there is none', () => {
    const identity = { OIDC_ISSUER_URL: 'https://id.example', OIDC_CLIENT_ID: 'parley', OIDC_CLIENT_SECRET: 'secret' }
    expect(faultsOf({ DATABASE_URL: 'none', REDIS_URL: 'redis://localhost:6379', ...identity })).toEqual([
      expect.stringMatching(/^REDIS_URL joins nodes/),
      expect.stringMatching(/^OIDC_ISSUER_URL needs a database/),
    ])
  })

  it('joins nobody while it stands by, which is for a copy of a database', () => {
    const REDIS_URL = 'redis://localhost:6379'
    expect(readConfig({ REDIS_URL })).toMatchObject({ standby: false, redisUrl: REDIS_URL })
    expect(readConfig({ REDIS_URL, STANDBY: 'true' })).toMatchObject({ standby: true, redisUrl: null })
    expect(faultsOf({ STANDBY: 'true', DATABASE_URL: 'none' })).toEqual([
      expect.stringMatching(/^STANDBY is for a copy/),
    ])
  })

  it('takes a previous sealing key only behind another one', () => {
    const ENCRYPTION_KEY_PREVIOUS = Buffer.alloc(32, 9).toString('base64')
    expect(faultsOf({ ENCRYPTION_KEY: KEY, ENCRYPTION_KEY_PREVIOUS })).toEqual([])
    expect(faultsOf({ ENCRYPTION_KEY_PREVIOUS })).toEqual([expect.stringMatching(/^ENCRYPTION_KEY must be set when/)])
    expect(faultsOf({ ENCRYPTION_KEY: KEY, ENCRYPTION_KEY_PREVIOUS: KEY })).toEqual([
      expect.stringMatching(/^ENCRYPTION_KEY_PREVIOUS must not be the same/),
    ])
  })

  it('sends the key of one provider to no other one', () => {
    const REALTIME_FALLBACK_URL = 'wss://other.example/v1/realtime'
    expect(faultsOf({ OPENAI_API_KEY: 'sk-1', REALTIME_FALLBACK_URL })).toEqual([
      expect.stringMatching(/^REALTIME_FALLBACK_API_KEY must be set/),
    ])
    expect(faultsOf({ REALTIME_FALLBACK_URL, REALTIME_FALLBACK_API_KEY: 'sk-2' })).toEqual([])
    expect(faultsOf({ OPENAI_API_KEY: 'sk-1', REALTIME_FALLBACK_MODEL: 'gpt-realtime-mini' })).toEqual([])
  })

  it('refuses half a carrier account', () => {
    expect(faultsOf({ TELEPHONY_ACCOUNT_SID: 'AC1' })).toEqual([
      expect.stringMatching(/^TELEPHONY_AUTH_TOKEN must be set/),
    ])
    expect(faultsOf({ TELEPHONY_AUTH_TOKEN: 'secret' })).toEqual([
      expect.stringMatching(/^TELEPHONY_ACCOUNT_SID must be set/),
    ])
    expect(faultsOf({ TELEPHONY_AUTH_TOKEN_SECONDARY: 'secret' })).toEqual([
      expect.stringMatching(/^TELEPHONY_AUTH_TOKEN must be set/),
    ])
  })

  const [NOTIFY_SMTP_URL, NOTIFY_FROM] = ['smtp://u:p@mail.example:587', 'parley@example.com']
  const OIDC = {
    OIDC_ISSUER_URL: 'https://login.example.com/realm/',
    OIDC_CLIENT_ID: 'parley',
    OIDC_CLIENT_SECRET: 's',
  }

  it.each<[Record<string, string>, string[]]>([
    [{ NOTIFY_SMTP_URL }, ['NOTIFY_FROM', 'NOTIFY_TO']],
    [{ NOTIFY_FROM, NOTIFY_TO: 'ops@example.com' }, ['NOTIFY_SMTP_URL']],
    [{ OIDC_ISSUER_URL: OIDC.OIDC_ISSUER_URL }, ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET']],
    [{ OIDC_ALLOWED_EMAILS: 'ann@example.com' }, ['OIDC_ISSUER_URL']],
    [{ OIDC_CLIENT_SECRET: 'secret' }, ['OIDC_ISSUER_URL']],
  ])('refuses half of what belongs together: %j', (env, missing) => {
    expect(faultsOf(env).map((fault) => fault.split(' ')[0])).toEqual(missing)
  })

  it('takes mail and logins that are whole', () => {
    expect(readConfig({ NOTIFY_SMTP_URL, NOTIFY_FROM, NOTIFY_TO: 'a@example.com,b@example.com' })).toMatchObject({
      notifyTo: ['a@example.com', 'b@example.com'],
    })
    expect(readConfig(OIDC)).toMatchObject({ oidcIssuerUrl: OIDC.OIDC_ISSUER_URL, oidcAllowedEmails: [] })
  })

  it('refuses one secret for two purposes', () => {
    expect(faultsOf({ ENCRYPTION_KEY: KEY, ADMIN_API_KEY: KEY })).toEqual([
      expect.stringMatching(/^ADMIN_API_KEY must not be the same as ENCRYPTION_KEY/),
    ])
  })
})
