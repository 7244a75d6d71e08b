import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { growth } from '../../../test/harness/growth.ts'
import { addFormats } from './formats.ts'

const ajv = new Ajv()
addFormats(ajv)

const check = (format: string) => ajv.compile({ type: 'string', format })

describe('a format', () => {
  it.each([
    ['uuid', '0197b2a0-5e1f-7c3d-9a41-2f6d8e0b1c22'],
    ['uri', 'https://example.com/hook?x=1'],
    ['email', 'ada@example.com'],
    ['phone', '+14155550100'],
    ['date-time', '2026-01-31T09:05:00.000Z'],
    ['date-time', '2026-01-31T09:05:00+02:00'],
    ['date', '2024-02-29'],
  ])('%s takes %s', (format, text) => {
    expect(check(format)(text)).toBe(true)
  })

  it.each([
    ['uuid', 'urn:uuid:0197b2a0-5e1f-7c3d-9a41-2f6d8e0b1c22'],
    ['uuid', '0197b2a05e1f7c3d9a412f6d8e0b1c22'],
    ['uuid', '0197b2a0-5e1f-7c3d-9a41-2f6d8e0b1c22\n'],
    ['uri', '/hook'],
    ['uri', 'https://exa mple.com'],
    ['uri', ' https://example.com'],
    ['uri', `https://example.com/${'x'.repeat(2_100)}`],
    ['email', 'ada'],
    ['email', `${'a'.repeat(250)}@example.com`],
    ['phone', '+1415'],
    ['phone', '4155550100'],
    ['date-time', '2026-01-31'],
    ['date-time', '2026-01-31T09:05:00'],
    ['date-time', '2026-02-30T09:05:00Z'],
    ['date-time', '2016-12-31T23:59:60Z'],
    ['date-time', '0000-01-01T00:00:00Z'],
    ['date-time', '9999-12-31T23:59:59-01:00'],
    ['date', '2026-02-29'],
    ['date', '0000-01-01'],
  ])('%s refuses "%s"', (format, text) => {
    expect(check(format)(text)).toBe(false)
  })

  it.each(['uuid', 'uri', 'email', 'phone', 'date-time', 'date'])(
    '%s takes no longer for each byte of 400 kB',
    (format) => {
      const isValid = check(format)
      for (const piece of ['a', 'a-', 'a.', '1', '+1', 'a@a.', 'http://', '%', '2026-01-31T']) {
        const grown = growth((bytes) => expect(isValid(piece.repeat(bytes / piece.length))).toBe(false), 400_000)
        expect(grown).toBeLessThan(8)
      }
    },
  )
})
