import { describe, expect, it } from 'vitest'
import { primaryLanguage } from './language.ts'

describe('primaryLanguage', () => {
  it.each([
    ['en', 'en'],
    ['EN', 'en'],
    ['en-US', 'en'],
    ['pt-BR', 'pt'],
    ['zh-Hant', 'zh'],
    ['sr-Latn-RS', 'sr'],
    ['de-CH-1901', 'de'],
    ['eng-GB', 'en'],
    ['cmn-Hans', 'zh'],
    ['nb-NO', 'no'],
    ['tl-PH', 'tl'],
    ['iw-IL', 'he'],
    ['in', 'id'],
    ['ji', 'yi'],
    ['fil', 'fil'],
    ['yue-HK', 'yue'],
  ])('of %s is %s', (tag, language) => {
    expect(primaryLanguage(tag)).toBe(language)
  })
})
