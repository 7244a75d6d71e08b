import { atLeast, setting, sha256Hex } from './config-values.ts'

/** Who administers this installation in a browser. */
export const ADMIN_SETTINGS = {
  adminUsername: setting({
    name: 'ADMIN_USERNAME',
    shownDefault: 'unset',
    meaning:
      'Who may log in in a browser and administer everything, with one of the two passwords below. Unset: nobody logs in with a password, people of tenants neither.',
    read: (text) => text ?? null,
  }),
  adminPassword: setting({
    name: 'ADMIN_PASSWORD',
    shownDefault: 'unset',
    meaning: 'The password of ADMIN_USERNAME; at least 12 characters.',
    read: (text) => atLeast(text, 12),
  }),
  adminPasswordSha256: setting({
    name: 'ADMIN_PASSWORD_SHA256',
    shownDefault: 'unset',
    meaning:
      'In place of ADMIN_PASSWORD: its SHA-256 in hexadecimal. The hash is a fast one, so only a long random password is safe behind it.',
    read: sha256Hex,
  }),
}

type AdminValues = {
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
  return faults
}
