import { secretBytes, secretText } from '../kernel/ids.ts'
import { sha256 } from '../kernel/seal.ts'

const PREFIX_CHARS = 8
const SECRET_BYTES = 32

/** What names the key, then what proves it. */
const TOKEN = /^(pk_[0-9a-z]{8})_[A-Za-z0-9_-]{43}$/

/** A key that was just made: what its holder gets, and what we keep of it. */
export type MintedKey = { token: string; keyPrefix: string; secretHash: Buffer }

/** Makes a token that nobody can guess: `pk_`, 8 characters, `_`, 43 characters. */
export function mintApiKey(): MintedKey {
  const keyPrefix = `pk_${prefixText()}`
  const token = `${keyPrefix}_${secretText(SECRET_BYTES)}`
  return { token, keyPrefix, secretHash: hashToken(token) }
}

/** The part of a token that may be shown and looked up; null for what is no API key. */
export function keyPrefixOf(token: string): string | null {
  return TOKEN.exec(token)?.[1] ?? null
}

/** What is stored in place of a token (SHA-256). */
export function hashToken(token: string): Buffer {
  return sha256(token)
}

/** 64 random bits spread over 36^8 prefixes: some come up more often than others by one part in six million. */
function prefixText(): string {
  const spread = secretBytes(8).readBigUInt64BE() % 36n ** BigInt(PREFIX_CHARS)
  return spread.toString(36).padStart(PREFIX_CHARS, '0')
}
