import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  E164_PATTERN,
  isPhoneNumber,
  type PhoneNumber,
  phoneFault,
  phoneNumberOf,
  shownNumber,
  spellingsOf,
} from './phone.ts'

describe('isPhoneNumber', () => {
  it.each(['+14155550100', '+15005550006', '+442071838750', '+4930901820', '+390612345678', '+6591234567'])(
    'takes %s',
    (number) => {
      expect(isPhoneNumber(number)).toBe(true)
    },
  )

  it.each([
    ['national form', '4155550100'],
    ['no plus', '14155550100'],
    ['spaces', '+1 415 555 0100'],
    ['a leading zero', '+04155550100'],
    ['too short for its country', '+1415555'],
    ['too long for its country', '+141555501000'],
    ['too long for anyone', '+1234567890123456'],
    ['a country code that nobody has', '+99912345678'],
    ['a line feed at its end', '+14155550100\n'],
    ['digits of another script', '+1415555٠١٠٠'],
    ['an address', 'sip:+14155550100@example.com'],
    ['nothing', ''],
    ['a word', 'anonymous'],
    ['UNAVAILABLE on a keypad', '+86282452253'],
    ['ANONYMOUS on a keypad', '+266696687'],
    ['RESTRICTED on a keypad', '+7378742833'],
    ['BLOCKED on a keypad', '+2562533'],
    ['UNKNOWN on a keypad', '+8656696'],
  ])('refuses %s', (_what, text) => {
    expect(isPhoneNumber(text)).toBe(false)
  })

  it.each([
    ['Britain', '+4402079460000', '+442079460000'],
    ['France', '+330612345678', '+33612345678'],
    ['America', '+112025559999', '+12025559999'],
    ['Hungary', '+360649154751', '+3649154751'],
  ])('has one spelling for a number: that of %s without its prefix', (_country, sent, number) => {
    expect([isPhoneNumber(sent), isPhoneNumber(number)]).toEqual([false, true])
    expect([sent, number].map(phoneNumberOf)).toEqual([number, number])
    expect(phoneFault(sent)).toContain('without the prefix')
    expect(spellingsOf(number as PhoneNumber)).toEqual([number, sent])
  })

  it('has one spelling for a number, behind however many prefixes', () => {
    expect(phoneNumberOf('+4300535215002')).toBe('+43535215002')
    const digits = fc.stringMatching(/^[1-9][0-9]{0,2}0{0,3}[0-9]{4,12}$/)
    fc.assert(
      fc.property(digits, (text) => {
        const number = phoneNumberOf(`+${text}`)
        expect(number === null || isPhoneNumber(number)).toBe(true)
      }),
      { numRuns: 5_000 },
    )
  })

  it('takes nothing that its pattern does not', () => {
    expect(E164_PATTERN).toBe('^\\+[1-9][0-9]{1,14}$')
    const number = '+14155550100'
    const between = fc.constantFrom(' ', '-', '.', '(', ')', '/', '\u00a0', '\n', '٠', '０', ';ext=1', 'a')
    const at = fc.nat(number.length)
    const spelled = fc.tuple(at, between).map(([i, text]) => number.slice(0, i) + text + number.slice(i))
    fc.assert(
      fc.property(fc.oneof(spelled, fc.string(), fc.constant(number.slice(1))), (text) => {
        expect([phoneNumberOf(text), isPhoneNumber(text)]).toEqual([null, false])
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('shownNumber', () => {
  const to = '+12025550100'

  it('is the one that was called for a caller whose own cannot be shown', () => {
    for (const from of ['anonymous', '+266696687', 'client:alice', 'sip:alice@example.com', '']) {
      expect(shownNumber({ direction: 'inbound', from, to })).toBe(to)
    }
  })

  it('is left to the carrier for any other, and where neither is a number', () => {
    expect(shownNumber({ direction: 'inbound', from: '+12025550101', to })).toBeNull()
    expect(shownNumber({ direction: 'inbound', from: 'anonymous', to: 'sip:desk@example.com' })).toBeNull()
    expect(shownNumber({ direction: 'outbound', from: to, to: '+12025550101' })).toBeNull()
  })
})
