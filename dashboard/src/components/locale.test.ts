import { describe, expect, it } from 'vitest'
import { localeFor } from './locale.ts'

describe('the locale of dates and numbers', () => {
  it.each([
    ['en-US', 'en-US'],
    ['en-IN', 'en-IN'],
    ['de-DE', 'en-DE'],
    ['de', 'en-DE'],
    ['ar', 'en-001'],
    ['pt-BR', 'en-001'],
    ['en-US@posix', 'en-US'],
    ['', 'en-US'],
  ])('for %s is %s', (language, locale) => {
    expect(localeFor(language)).toBe(locale)
  })

  it('writes all digits alike, and no word that is not English', () => {
    const at = new Date('2026-11-24T15:00:00Z')
    const written = (language: string) =>
      new Intl.DateTimeFormat(localeFor(language), { weekday: 'short', day: 'numeric', month: 'short' }).format(at)
    expect(['de-DE', 'ar', 'fa-IR', 'ja-JP', 'hi-IN'].map(written)).toEqual(
      ['de-DE', 'ar', 'fa-IR', 'ja-JP', 'hi-IN'].map(() => expect.stringMatching(/^Tue,? (24 Nov|Nov 24)$/)),
    )
    expect(new Intl.NumberFormat(localeFor('ar')).format(1_791.4)).toBe('1,791.4')
    expect(new Intl.NumberFormat(localeFor('de-DE')).format(1_791.4)).toBe('1.791,4')
  })
})
