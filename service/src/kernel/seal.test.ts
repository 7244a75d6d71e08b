import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makeSealer, secretsEqual, sha256 } from './seal.ts'

const sealer = makeSealer(randomBytes(32))
const context = 'acme/auth_token'
const PREFIX = 'sealed:v1:'

describe('a sealed text', () => {
  it('opens to what was sealed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (plain, anyContext) => {
        fc.pre(plain.isWellFormed())
        expect(sealer.open(sealer.seal(plain, anyContext), anyContext)).toBe(plain)
      }),
    )
  })

  it('does not open in another context', () => {
    const sealed = sealer.seal('hunter2', context)
    expect(() => sealer.open(sealed, 'evil/auth_token')).toThrow()
  })

  it('does not open with another key', () => {
    const sealed = sealer.seal('hunter2', context)
    expect(() => makeSealer(randomBytes(32)).open(sealed, context)).toThrow()
  })

  it('does not open with any one of its bits flipped', () => {
    const sealed = sealer.seal('hunter2', context)
    const bytes = Buffer.from(sealed.slice(PREFIX.length), 'base64')
    const opened = Array.from({ length: bytes.length * 8 }, (_, bit) => {
      const flipped = Buffer.from(bytes)
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      return tryOpen(PREFIX + flipped.toString('base64'))
    })
    expect(opened.filter((text) => text !== null)).toEqual([])
  })

  it('does not open when it was cut short', () => {
    const bytes = Buffer.from(sealer.seal('hunter2', context).slice(PREFIX.length), 'base64')
    const opened = Array.from(bytes, (_, length) => tryOpen(PREFIX + bytes.subarray(0, length).toString('base64')))
    expect(opened.filter((text) => text !== null)).toEqual([])
  })

  it('opens with the key behind the one that sealed it, and is sealed anew once', () => {
    const next = makeSealer(randomBytes(32), sealer)
    const sealed = sealer.seal('hunter2', context)
    expect(next.open(sealed, context)).toBe('hunter2')
    const renewed = next.renew(sealed, context)
    expect(next.renew(renewed, context)).toBe(renewed)
    expect(next.open(renewed, context)).toBe('hunter2')
    expect(() => sealer.open(renewed, context)).toThrow()
    expect(() => next.renew(sealed, 'evil/auth_token')).toThrow()
  })

  it('is never the same twice', () => {
    expect(new Set(Array.from({ length: 1_000 }, () => sealer.seal('hunter2', context))).size).toBe(1_000)
  })

  it('does not show what it holds', () => {
    const sealed = sealer.seal('hunter2hunter2', context)
    expect(sealed + Buffer.from(sealed.slice(PREFIX.length), 'base64').toString('latin1')).not.toContain('hunter2')
  })

  it('is told from a text that was never sealed', () => {
    expect(() => sealer.open('hunter2', context)).toThrow('not a sealed text: acme/auth_token')
  })
})

function tryOpen(sealed: string): string | null {
  try {
    return sealer.open(sealed, context)
  } catch {
    return null
  }
}

describe('digest', () => {
  it('is the same for the same text, and different for another or with another key', () => {
    expect(sealer.digest('a')).toBe(sealer.digest('a'))
    expect(sealer.digest('a')).not.toBe(sealer.digest('b'))
    expect(sealer.digest('a')).not.toBe(makeSealer(randomBytes(32)).digest('a'))
  })
})

describe('secretsEqual', () => {
  it('tells equal from different, whatever their lengths', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(secretsEqual(a, b)).toBe(a === b)
        expect(secretsEqual(a, a)).toBe(true)
      }),
    )
  })
})

describe('sha256', () => {
  it('is the digest of FIPS 180', () => {
    expect(sha256('abc').toString('hex')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })
})
