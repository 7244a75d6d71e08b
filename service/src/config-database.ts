import { resolve } from 'node:path'
import { databaseUrl, setting } from './config-values.ts'

/** Where the data lives: PostgreSQL inside this process, a server, or nowhere. */
export type DatabaseConfig = { kind: 'embedded'; folder: string } | { kind: 'server'; url: string } | { kind: 'none' }

const NO_DATABASE = 'none'

/** Where the data lives, and what stands in where it lives nowhere. */
export const DATABASE_SETTINGS = {
  databaseUrl: setting({
    name: 'DATABASE_URL',
    shownDefault: 'unset',
    meaning:
      'A PostgreSQL server as postgres://user:password@host:port/name. Unset: PostgreSQL embedded in the service, in DATA_DIR. none: no database; calls work, and nothing is kept.',
    read: databaseUrl,
  }),
  tenantsFile: setting({
    name: 'TENANTS_FILE',
    shownDefault: 'unset',
    meaning: 'With DATABASE_URL=none: a file with the documents of the tenants, as a JSON array.',
    read: (text) => (text === undefined ? null : resolve(text)),
  }),
}

type DatabaseValues = {
  databaseUrl?: string | null
  tenantsFile?: string | null
  encryptionKey?: Buffer | null
  encryptionKeyPrevious?: Buffer | null
  redisUrl?: string | null
  oidcIssuerUrl?: string | null
  standby?: boolean
}

/** What the address of the database stands for. */
export function databaseOf(url: string | null, dataDir: string): DatabaseConfig {
  if (url === NO_DATABASE) return { kind: 'none' }
  return url ? { kind: 'server', url } : { kind: 'embedded', folder: dataDir }
}

/** What these settings cannot mean together, a sentence for each. */
export function databaseContradictions(values: DatabaseValues): string[] {
  const { databaseUrl: url, tenantsFile, encryptionKey, encryptionKeyPrevious: former } = values
  const faults: string[] = url === NO_DATABASE ? withoutDatabase(values) : []
  if (tenantsFile && url !== NO_DATABASE) {
    faults.push('TENANTS_FILE is read only with DATABASE_URL=none: a database has its tenants in itself.')
  }
  if (url && url !== NO_DATABASE && encryptionKey === null) {
    faults.push(
      'ENCRYPTION_KEY must be set when DATABASE_URL names a server: every node needs the same key. Make one with `openssl rand -base64 32`.',
    )
  }
  if (former && encryptionKey === null) {
    faults.push(
      'ENCRYPTION_KEY must be set when ENCRYPTION_KEY_PREVIOUS is: it is the new key. That in DATA_DIR/encryption.key is the previous one.',
    )
  }
  if (former && encryptionKey?.equals(former)) {
    faults.push('ENCRYPTION_KEY_PREVIOUS must not be the same as ENCRYPTION_KEY: leave it empty.')
  }
  return faults
}

function withoutDatabase({ redisUrl, oidcIssuerUrl, standby }: DatabaseValues): string[] {
  return [
    ...(redisUrl
      ? ['REDIS_URL joins nodes that share a database, and with DATABASE_URL=none there is none to share.']
      : []),
    ...(standby ? ['STANDBY is for a copy of a database, and DATABASE_URL is none.'] : []),
    ...(oidcIssuerUrl ? ['OIDC_ISSUER_URL needs a database to know people by, and DATABASE_URL is none.'] : []),
  ]
}
