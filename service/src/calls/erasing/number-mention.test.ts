import { describe, expect, it } from 'vitest'
import { growth } from '../../../test/harness/growth.ts'
import type { PhoneNumber } from '../../kernel/phone.ts'
import { numberMention } from './number-mention.ts'

const american = numberMention('+12025550142' as PhoneNumber)
const german = numberMention('+493012345678' as PhoneNumber)

describe('a number in a text', () => {
  it.each(['+12025550142', '12025550142', '2025550142', '(202) 555-0142', '+1 (202) 555 0142', '001 202.555.0142'])(
    'is found as %s, and nothing around it is touched',
    (spelling) => {
      expect(american.without(`Call ${spelling}, or (3) others.`)).toBe('Call [erased], or (3) others.')
      expect(new RegExp(american.pattern).test(spelling)).toBe(true)
    },
  )

  it.each(['+49 30 12345678', '030/12345678', '+49 (0)30 1234-5678', '0049 30 12 34 56 78'])(
    'is found as %s',
    (spelling) => {
      expect(german.without(`Tel. ${spelling}!`)).toBe('Tel. [erased]!')
    },
  )

  it.each([
    ['+79161234567', ['89161234567', '8 (916) 123-45-67', '8-916-123-45-67', '+7 916 123-45-67', '9161234567']],
    ['+36301234567', ['06301234567', '06-30-123-4567', '0630/123-4567', '+36 (06) 30 123 4567', '0036301234567']],
    ['+375291234567', ['80291234567', '8 (029) 123-45-67', '+375 29 123-45-67']],
  ])('is found by what is dialled before it in its country: %s', (phone, spellings) => {
    const { without, wholePattern } = numberMention(phone as PhoneNumber)
    for (const spelling of spellings) {
      expect(without(`Tel. ${spelling}!`)).toBe('Tel. [erased]!')
      expect(new RegExp(wholePattern).test(spelling)).toBe(true)
    }
    for (const other of [`1${spellings[0]}`, `${spellings[0]}1`]) expect(without(other)).toBe(other)
  })

  it.each(['+12025550143', '120255501420', '5550142', '2025550 and 142', '+44 20 2555 0142', '0044 2025 550142'])(
    'is not %s',
    (other) => {
      expect(american.without(other)).toBe(other)
    },
  )

  it.each([
    ['a blank that is not to be broken', '+1\u00a0202\u00a0555\u00a00142'],
    ['blanks around dashes', '+1 (202)  555 - 0142'],
    ['a line break', '+1 202\n555 0142'],
  ])('is found with %s, as it is and as JSON writes it', (_what, spelling) => {
    expect(american.without(`Call ${spelling}.`)).toBe('Call [erased].')
    const escaped = (text: string) => JSON.stringify(text).replaceAll('\u00a0', '\\u00a0')
    for (const written of [escaped(spelling), escaped(escaped(spelling))]) {
      expect(new RegExp(american.pattern).test(written)).toBe(true)
      // No JSON as a whole, so that it is looked at as a text.
      expect(american.withoutInJson(`{${written}`)).not.toContain('0142')
    }
  })

  it.each([
    ...['+12025550142', '0012025550142', '12025550142', '(202) 555-0142', ' +1 202 555 0142', 'tel:+1-202-555-0142'],
    ...['sip:+12025550142@example.org', 'sips:2025550142@10.0.0.1:5061;transport=tls', 'TEL:+12025550142;ext=5'],
  ])('is the whole of %s', (spelling) => {
    expect(new RegExp(american.wholePattern).test(spelling)).toBe(true)
  })

  it.each(['+120255501420', 'sip:5550142@example.org', 'sip:ana@2025550142', 'Call +12025550142', '+44 20 2555 0142'])(
    'is not the whole of %s',
    (other) => {
      expect(new RegExp(american.wholePattern).test(other)).toBe(false)
    },
  )

  describe('whose digits at home are those of another country with its code', () => {
    const angeleno = numberMention('+13232345678' as PhoneNumber)

    it.each(['+3232345678', '+32 3 234 56 78', '00 32 3 234 56 78', '0032-3-234-56-78'])('is not %s', (other) => {
      expect(angeleno.without(`Call ${other}.`)).toBe(`Call ${other}.`)
      for (const whole of [other, `tel:${other}`, `sip:${other}@example.org`])
        expect(new RegExp(angeleno.wholePattern).test(whole)).toBe(false)
    })

    it.each(['323 234 5678', '+13232345678', '(323) 234-5678'])('is %s', (spelling) => {
      expect(angeleno.without(`Call ${spelling}.`)).toBe('Call [erased].')
      expect(new RegExp(angeleno.wholePattern).test(spelling)).toBe(true)
    })
  })

  it('is found behind the noughts of an hour', () => {
    expect(numberMention('+13232345678' as PhoneNumber).without('10:00 323 234 5678')).toBe('10:00 [erased]')
  })

  it('is found in whatever part of JSON, which stays JSON', () => {
    const before = { '+12025550142': [12_025_550_142, 'at 202-555-0142', 7, null, true] }
    expect(JSON.parse(american.withoutInJson(JSON.stringify(before)))).toEqual({
      '[erased]': ['[erased]', 'at [erased]', 7, null, true],
    })
    expect(american.withoutInJson('{"a": 12025550142')).toBe('{"a": [erased]')
    expect(american.withoutInJson('{ "a":  1 }')).toBe('{ "a":  1 }')
  })

  it.each(['2', '+1 ', '20255501', '((', '1 202 ', '0 ', '2\\\\\\', '2\\u0020', '2\\n\\'])(
    'takes a time that grows with the text alone: %j',
    (piece) => {
      const grown = growth((size) => american.without(piece.repeat(size / piece.length)), 262_144)
      expect(grown).toBeLessThan(8)
    },
  )

  it.each(['0', '06', '0 6 ', '(06', '06 30 '])('so does one of a longer prefix: %j', (piece) => {
    const hungarian = numberMention('+36301234567' as PhoneNumber)
    const grown = growth((size) => hungarian.without(piece.repeat(size / piece.length)), 262_144)
    expect(grown).toBeLessThan(8)
  })
})
