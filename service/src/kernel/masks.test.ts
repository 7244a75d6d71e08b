import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { growth } from '../../test/harness/growth.ts'
import { maskPhone, scrub } from './masks.ts'

describe('maskPhone', () => {
  it.each([
    ['+14155550100', '+*******0100'],
    ['+1 (415) 555-01-00', '+* (***) ***-01-00'],
    ['sip:+14155550100@example', 'sip:+*******0100@example'],
    ['911', '911'],
    ['anonymous', 'anonymous'],
  ])('shows of %s the last four digits only', (number, masked) => {
    expect(maskPhone(number)).toBe(masked)
  })
})

describe('scrub', () => {
  it.each([
    ['dialled +14155550100 twice', 'dialled +*******0100 twice'],
    ['From=%2B14155550100&To=%2b442071838750', 'From=%2B*******0100&To=%2b********8750'],
    ['+44 20 7183 8750, +1 (415) 555-0100', '+** ** **** 8750, +* (***) ***-0100'],
    ['+12345678901234567890', '+****************7890'],
    ['call 415-555-0100 or (415) 555-0100', 'call ***-***-0100 or (***) ***-0100'],
  ])('leaves of the number in "%s" its last four digits', (text, clean) => {
    expect(scrub(text)).toBe(clean)
  })

  it.each([
    '2026-01-31T09:05:00.000+01:00',
    '2026-01-31T09:05:00.000Z took 1200 ms',
    '0197b2a0-5e1f-7c3d-9a41-2f6d8e0b1c22',
    'CA0123456789abcdef0123456789abcdef',
    'key is required',
    'at run (file:///srv/parley/main.ts:10:3)',
    'http://127.0.0.1:8080/api/v1/admin/tenants?limit=50',
    'count=1000000000000 rows',
  ])('leaves "%s" as it is', (text) => {
    expect(scrub(text)).toBe(text)
  })

  const secret = 'aB3dEfGh1jKlMn0pQrStUvWxYz'
  it.each([
    `pk_abcd1234_${'x'.repeat(17)}${secret}`,
    `ak_${'x'.repeat(17)}${secret}`,
    `whsec_${secret}`,
    `sk-proj-${secret}`,
    `sk_${secret}`,
    `eyJhbGciOiJIUzI1NiJ9.${secret}.${secret}`,
    `Authorization: Bearer ${secret}`,
    `authorization: basic ${secret}=`,
    `postgres://parley:${secret}@db:5432/parley`,
    `postgres://parley:one@${secret}@db/parley`,
    `redis://:${secret}@cache:6379`,
    `GET /logs?auth_token=${secret}&x=1`,
    `auth_token=${secret}`,
    `/media-stream?stream_token=${secret}`,
    `{"auth_token": "${secret}"}`,
    `-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----`,
  ])('takes the credential out of "%s"', (text) => {
    expect(scrub(text)).not.toContain(secret)
  })

  it('takes a carrier token, which is 32 hex digits, out of a sentence', () => {
    expect(scrub('token 0123456789abcdef0123456789abcdef refused')).toBe('token *** refused')
  })

  it('takes the name out of an e-mail address', () => {
    expect(scrub('mail to ada.lovelace@example.com bounced')).toBe('mail to ***@example.com bounced')
  })

  it('hides a number wherever it stands', () => {
    const digits = fc.stringMatching(/^[1-9][0-9]{9,14}$/)
    const around = fc.string({ maxLength: 20 }).filter((text) => !/[\d@+]/.test(text))
    fc.assert(
      fc.property(around, digits, around, (before, number, after) => {
        expect(scrub(`${before}+${number}${after}`)).not.toContain(number)
      }),
    )
  })

  it.each(['+1', '+1 ', 'bearer ', 'a', 'a@', '://a:', '?token', '"key', 'eyJa.', 'eyJ-', '0', '415-', '-----BEGIN '])(
    'takes no longer for each byte of 400 kB of "%s"',
    (piece) => {
      expect(growth((bytes) => scrub(piece.repeat(bytes / piece.length)), 400_000)).toBeLessThan(8)
    },
  )
})
