import { emails, issuerUrl, setting, sha256Hex, within } from './config-values.ts'
import { LOGIN_NAME, NEW_PASSWORD } from './tenancy/login-bounds.ts'

/** Who administers this installation in a browser. */
export const ADMIN_SETTINGS = {
  adminUsername: setting({
    name: 'ADMIN_USERNAME',
    shownDefault: 'unset',
    meaning:
      'Who may log in in a browser and administer everything, with one of the two passwords below. Unset: nobody logs in with a password, people of tenants neither.',
    read: (text) => within(text, LOGIN_NAME.minLength, LOGIN_NAME.maxLength),
  }),
  adminPassword: setting({
    name: 'ADMIN_PASSWORD',
    shownDefault: 'unset',
    meaning: 'The password of ADMIN_USERNAME: 12 to 200 characters.',
    read: (text) => within(text, NEW_PASSWORD.minLength, NEW_PASSWORD.maxLength),
  }),
  adminPasswordSha256: setting({
    name: 'ADMIN_PASSWORD_SHA256',
    shownDefault: 'unset',
    meaning:
      'In place of ADMIN_PASSWORD: its SHA-256 in hexadecimal. The hash is a fast one, so only a long random password is safe behind it.',
    read: sha256Hex,
  }),
  oidcIssuerUrl: setting({
    name: 'OIDC_ISSUER_URL',
    shownDefault: 'unset',
    meaning:
      'The OpenID Connect provider at which people log in, as it calls itself: https, or http on this machine. It sends them back to PUBLIC_URL/api/v1/admin/auth/sso/callback.',
    read: issuerUrl,
  }),
  oidcClientId: setting({
    name: 'OIDC_CLIENT_ID',
    shownDefault: 'unset',
    meaning: 'What that provider calls this service.',
    read: (text) => text ?? null,
  }),
  oidcClientSecret: setting({
    name: 'OIDC_CLIENT_SECRET',
    shownDefault: 'unset',
    meaning: 'By what that provider knows this service.',
    read: (text) => text ?? null,
  }),
  oidcAllowedEmails: setting({
    name: 'OIDC_ALLOWED_EMAILS',
    shownDefault: 'unset',
    meaning:
      'Who of those that the provider vouches for administers everything: e-mail addresses, separated by commas. People of tenants log in there with the e-mail that they have here.',
    read: emails,
  }),
}

type AdminValues = {
  oidcIssuerUrl?: string | null
  oidcClientId?: string | null
  oidcClientSecret?: string | null
  oidcAllowedEmails?: string[]
  adminUsername?: string | null
  adminPassword?: string | null
  adminPasswordSha256?: string | null
}

/** What these settings cannot mean together, a sentence for each. */
export function adminContradictions(values: AdminValues): string[] {
  const { adminUsername, adminPassword, adminPasswordSha256 } = values
  const faults: string[] = []
  if (adminPassword && adminPasswordSha256) {
    faults.push('ADMIN_PASSWORD_SHA256 must not be set together with ADMIN_PASSWORD: leave one of them empty.')
  }
  const hasPassword = Boolean(adminPassword || adminPasswordSha256)
  if (hasPassword && adminUsername === null) {
    faults.push('ADMIN_USERNAME must be set when a password of the administrator is: nobody can log in without it.')
  }
  if (adminUsername && adminPassword === null && adminPasswordSha256 === null) {
    faults.push('ADMIN_PASSWORD or ADMIN_PASSWORD_SHA256 must be set when ADMIN_USERNAME is.')
  }
  return [...faults, ...oidcContradictions(values)]
}

/** All of it or nothing: half of it would leave people before a login that cannot end. */
function oidcContradictions({ oidcIssuerUrl, oidcClientId, oidcClientSecret, oidcAllowedEmails }: AdminValues) {
  const hasEmails = oidcAllowedEmails !== undefined && oidcAllowedEmails.length > 0
  if (oidcIssuerUrl === null && (oidcClientId || oidcClientSecret || hasEmails)) {
    return ['OIDC_ISSUER_URL must be set when another OIDC_ setting is: it names where people log in.']
  }
  if (!oidcIssuerUrl) return []
  return [
    ...(oidcClientId === null ? ['OIDC_CLIENT_ID must be set when OIDC_ISSUER_URL is.'] : []),
    ...(oidcClientSecret === null ? ['OIDC_CLIENT_SECRET must be set when OIDC_ISSUER_URL is.'] : []),
  ]
}
