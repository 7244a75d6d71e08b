import type { Config } from '../../service/src/config.ts'

/** Shorter texts are no secrets, and would be found inside of ordinary words. */
const MIN_CHARS = 6

/** Makes what takes every secret of the settings out of a text before it is shown. */
export function makeMask(config: Config): (text: string) => string {
  const secrets = [
    ...[config.telephonyAuthToken, config.telephonyAuthTokenSecondary, config.modelApiKey, config.fallbackApiKey],
    ...[config.adminKey, config.streamTokenSecret, config.streamTokenSecretPrevious],
    ...[config.encryptionKey, config.encryptionKeyPrevious].map((key) => key?.toString('base64') ?? null),
  ].filter((secret) => secret !== null && secret.length >= MIN_CHARS)
  return (text) => secrets.reduce((shown: string, secret) => shown.replaceAll(secret as string, '***'), text)
}
