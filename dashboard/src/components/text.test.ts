import { describe, expect, it } from 'vitest'
import { DASH, dialled, phoneText, usdText, words } from './text.ts'

describe('an amount in US dollars', () => {
  it.each([
    [0, '$0'],
    [0.0433, '$0.0433'],
    [0.106, '$0.106'],
    [12.345, '$12.35'],
    [null, DASH],
  ])('writes %j as %s, wherever it stands', (usd, text) => expect(usdText(usd)).toBe(text))
})

describe('a number as the API takes it', () => {
  it.each([
    [phoneText('+12025550123'), '+12025550123'],
    ['(202) 555-0123', '2025550123'],
    ['\u00A0+49.30.123456 ', '+4930123456'],
    ['\u202A+49 (30) 1234\u201156\u202C', '+4930123456'],
    ['+49 30/1234\u201356', '+4930123456'],
    ['\u200F+٢٠ ١٠٠ ١٢٣ ٤٥٦٧', '+201001234567'],
    ['+۹۸ ۲۱ ۸۷۶۵ ۴۳۰۰', '+982187654300'],
    ['+९१ ९८७६५ ४३२१०', '+919876543210'],
    ['＋８１（９０）１２３４－５６７８', '+819012345678'],
    ['12٫5', '12٫5'],
    ['sip:ann-lee@example.com', 'sip:ann-lee@example.com'],
    ['anonymous', 'anonymous'],
    [undefined, undefined],
  ])('is, of %j, %j', (text, number) => expect(dialled(text)).toBe(number))
})

describe('a value of the API in words', () => {
  it.each([
    ['caller_hangup', 'Caller hangup'],
    ['dnc_listed', 'On the do-not-call list'],
    ['constructor', 'Constructor'],
    [null, DASH],
  ])('is, of %j, %s', (value, text) => expect(words(value)).toBe(text))
})
