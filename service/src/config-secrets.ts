import type { Config } from './config.ts'

/** The exact texts of the settings that no line of the log may hold. */
export function secretsOf(config: Config): string[] {
  const secrets = [
    ...[config.adminKey, config.adminPassword, config.adminPasswordSha256, config.oidcClientSecret],
    ...[config.telephonyAuthToken, config.telephonyAuthTokenSecondary],
    ...[config.modelApiKey, config.fallbackApiKey, config.secondaryAudioKey],
    ...[inBase64(config.encryptionKey), inBase64(config.encryptionKeyPrevious)],
    ...[config.streamTokenSecret, config.streamTokenSecretPrevious, config.billingSecret],
    ...[config.redisUrl, config.notifySmtpUrl].flatMap(passwordsIn),
    ...databasePasswords(config),
  ]
  return secrets.filter((secret) => secret !== null)
}

function inBase64(key: Buffer | null): string | null {
  return key?.toString('base64') ?? null
}

/**
 * One that is the user's name, too, as that of many a database is that nobody else reaches, hides nothing, and would blot out that word
 * everywhere. Of a mail server both may be one token.
 */
function databasePasswords({ database }: Config): string[] {
  if (database.kind !== 'server') return []
  const { username } = new URL(database.url)
  return passwordsIn(database.url).filter((text) => text !== username)
}

/** As they stand in an address, and as the server is told them: either may be in what a driver says of it. */
function passwordsIn(address: string | null): string[] {
  if (address === null) return []
  const { password, searchParams } = new URL(address)
  return [password, decoded(password), searchParams.get('password') ?? ''].filter((text) => text !== '')
}

/** Drivers take one that cannot be decoded as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
