import { describe, expect, it } from 'vitest'
import { sha256 } from '../kernel/seal.ts'
import { keyPrefixOf, mintApiKey } from './api-key-token.ts'

describe('an API key token', () => {
  it('has a prefix that may be shown and a secret of 256 bits', () => {
    for (let count = 0; count < 200; count += 1) {
      const { token, keyPrefix, secretHash } = mintApiKey()
      expect(token).toMatch(/^pk_[0-9a-z]{8}_[A-Za-z0-9_-]{43}$/)
      expect(token.startsWith(`${keyPrefix}_`)).toBe(true)
      expect(secretHash).toEqual(sha256(token))
    }
  })

  it('is never the same twice', () => {
    expect(new Set(Array.from({ length: 1000 }, () => mintApiKey().keyPrefix)).size).toBe(1000)
  })

  it('tells its prefix', () => {
    const { token, keyPrefix } = mintApiKey()
    expect(keyPrefixOf(token)).toBe(keyPrefix)
  })

  it.each([
    '',
    'pk_abcdefgh',
    `pk_abcdefgh_${'x'.repeat(42)}`,
    `pk_abcdefgh_${'x'.repeat(44)}`,
    `pk_ABCDEFGH_${'x'.repeat(43)}`,
    `sk_abcdefgh_${'x'.repeat(43)}`,
    `pk_abcdefgh_${'x'.repeat(43)}\n`,
    ` pk_abcdefgh_${'x'.repeat(43)}`,
  ])('is not what %j is', (text) => {
    expect(keyPrefixOf(text)).toBeNull()
  })
})
