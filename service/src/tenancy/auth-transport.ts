import { Type } from 'typebox'

/** Its settings in numbers, as diagnostics show them. */
export const AuthTransport = Type.Object({
  legacy_query_auth_enabled: Type.Boolean(),
  stream_auth_previous_configured: Type.Boolean(),
  stream_auth_primary_configured: Type.Boolean({ description: 'Whether STREAM_TOKEN_SECRET is set.' }),
  stream_auth_secret_count: Type.Integer({ description: 'The secrets that a stream token may be signed with.' }),
})
export type AuthTransport = Type.Static<typeof AuthTransport>

/** How credentials travel in this installation: what its settings say. */
export type TransportFacts = {
  hasStreamSecret: boolean
  hasPreviousStreamSecret: boolean
  hasEncryptionKey: boolean
  /** Whether a credential is taken from the query of a WebSocket. */
  takesQueryCredentials: boolean
  takesLegacyBearer: boolean
  /** Whether callbacks of tenants without a carrier token are taken unsigned. */
  takesUnsignedCallbacks: boolean
  /** Whether PUBLIC_URL is https, or an address of this machine. */
  isPublicUrlSafe: boolean
}

const SEVERITIES = ['ok', 'info', 'warning', 'critical'] as const
type Severity = (typeof SEVERITIES)[number]

/** Something about it that should, or must, be changed. */
export type TransportAlert = { code: string; message: string; severity: Severity; action: string }

type Rule = TransportAlert & { holds(facts: TransportFacts): boolean }

const RULES: Rule[] = [
  {
    code: 'stream_auth_primary_missing',
    severity: 'critical',
    message: 'Stream tokens are signed with a key that was made on this machine: no other node can check them.',
    action: 'Set STREAM_TOKEN_SECRET, or ENCRYPTION_KEY, to the same value on every node.',
    holds: ({ hasStreamSecret, hasEncryptionKey }) => !hasStreamSecret && !hasEncryptionKey,
  },
  {
    code: 'public_url_not_https',
    severity: 'critical',
    message: 'PUBLIC_URL is not https: keys, cookies and what is said in calls travel readable.',
    action: 'Put a proxy with a certificate in front, and set PUBLIC_URL to its https address.',
    holds: ({ isPublicUrlSafe }) => !isPublicUrlSafe,
  },
  {
    code: 'unsigned_callbacks_possible',
    severity: 'critical',
    message: 'Callbacks of tenants without a carrier token are taken unsigned: this is a rehearsal.',
    action: 'Set SIMULATOR=off before real calls come in.',
    holds: ({ takesUnsignedCallbacks }) => takesUnsignedCallbacks,
  },
  {
    code: 'legacy_query_auth_enabled',
    severity: 'warning',
    message: 'Credentials are taken from the query of WebSocket addresses, which proxies write into their logs.',
    action: 'Set LEGACY_QUERY_AUTH_ENABLED=false once no client sends them there.',
    holds: ({ takesQueryCredentials }) => takesQueryCredentials,
  },
  {
    code: 'stream_auth_previous_lingering',
    severity: 'info',
    message: 'Stream tokens of the secret before the present one are still taken.',
    action: 'Empty STREAM_TOKEN_SECRET_PREVIOUS once the tokens that it signed are over.',
    holds: ({ hasPreviousStreamSecret }) => hasPreviousStreamSecret,
  },
  {
    code: 'legacy_bearer_auth_enabled',
    severity: 'info',
    message: "Tenants' raw auth_tokens are taken beside API keys.",
    action: 'Set LEGACY_TENANT_BEARER_AUTH_ENABLED=false once every client has an API key.',
    holds: ({ takesLegacyBearer }) => takesLegacyBearer,
  },
]

/** What there is to say, the worst first. */
export function transportAlerts(facts: TransportFacts): TransportAlert[] {
  const held = RULES.filter((rule) => rule.holds(facts))
  return held.map(({ code, message, severity, action }) => ({ code, message, severity, action }))
}

/** The worst of them. */
export function worstOf(alerts: TransportAlert[]): Severity {
  const worst = Math.max(0, ...alerts.map(({ severity }) => SEVERITIES.indexOf(severity)))
  return SEVERITIES[worst] ?? 'ok'
}

/** The same in numbers. Whatever signs by default verifies too. */
export function transportDiagnostics(facts: TransportFacts): AuthTransport {
  return {
    legacy_query_auth_enabled: facts.takesQueryCredentials,
    stream_auth_previous_configured: facts.hasPreviousStreamSecret,
    stream_auth_primary_configured: facts.hasStreamSecret,
    stream_auth_secret_count: facts.hasPreviousStreamSecret ? 2 : 1,
  }
}
