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
    ...(config.database.kind === 'server' ? passwordsIn(config.database.url) : []),
  ]
  return secrets.filter((secret) => secret !== null)
}

function inBase64(key: Buffer | null): string | null {
  return key?.toString('base64') ?? null
}

/**
 * As they stand in an address, and as the server is told them: either may be in what a driver says of it. One that is the user's
 * name, too, as that of many a database is that nobody else reaches, hides nothing, and would blot out that word everywhere.
 */
function passwordsIn(address: string | null): string[] {
  if (address === null) return []
  const { username, password, searchParams } = new URL(address)
  const inQuery = searchParams.get('password') ?? ''
  return [password, decoded(password), inQuery].filter((text) => text !== '' && text !== username)
}

/** Drivers take one that cannot be decoded as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
