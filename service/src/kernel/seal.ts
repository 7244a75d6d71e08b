import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { secretBytes } from './ids.ts'

const IV_BYTES = 12
const TAG_BYTES = 16
const PREFIX = 'sealed:v1:'

/** Seals secrets for storage and signs what must not be guessed. One per process, made from ENCRYPTION_KEY. */
export type Sealer = {
  /**
   * Encrypts `plain` (AES-256-GCM, fresh nonce). `context` names where the secret belongs, such as `acme/auth_token`: it
   * is bound in, so that a sealed text copied to another row does not open there.
   */
  seal(plain: string, context: string): string
  /** @throws Error when the text was not sealed with this key, nor with the one before it, and context. */
  open(sealed: string, context: string): string
  /**
   * The text as it is when it was sealed with this key, and sealed anew when it was with the one before.
   *
   * @throws Error as `open`.
   */
  renew(sealed: string, context: string): string
  /** A keyed digest (HMAC-SHA-256, hex) that tells nothing about a short secret to whoever lacks the key. */
  digest(text: string): string
}

/**
 * @param key the 32 bytes of ENCRYPTION_KEY. Sealing and digests use keys derived from it, so neither weakens the other.
 * @param former makes nothing any more, and still opens what it has sealed.
 */
export function makeSealer(key: Buffer, former: Sealer | null = null): Sealer {
  const sealKey = derive(key, 'parley seal v1')
  const digestKey = derive(key, 'parley digest v1')

  function seal(plain: string, context: string): string {
    const iv = secretBytes(IV_BYTES)
    const cipher = createCipheriv('aes-256-gcm', sealKey, iv).setAAD(Buffer.from(context))
    const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
    return PREFIX + Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64')
  }

  /** By this key alone. */
  function unseal(sealed: string, context: string): string {
    if (!sealed.startsWith(PREFIX)) throw new Error(`not a sealed text: ${context}`)
    const bytes = Buffer.from(sealed.slice(PREFIX.length), 'base64')
    const decipher = createDecipheriv('aes-256-gcm', sealKey, bytes.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
    return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
  }

  function opened(sealed: string, context: string): { plain: string; isOurs: boolean } {
    try {
      return { plain: unseal(sealed, context), isOurs: true }
    } catch (error) {
      if (!former) throw error
      return { plain: former.open(sealed, context), isOurs: false }
    }
  }

  return {
    seal,
    open: (sealed, context) => opened(sealed, context).plain,
    renew(sealed, context) {
      const { plain, isOurs } = opened(sealed, context)
      return isOurs ? sealed : seal(plain, context)
    },
    digest: (text) => createHmac('sha256', digestKey).update(text).digest('hex'),
  }
}

function derive(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', purpose, 32))
}

/** SHA-256. For secrets of 256 random bits a slow hash adds nothing. */
export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Compares two secrets in a time that depends on neither: their digests have one length whatever theirs is. */
export function secretsEqual(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b))
}
