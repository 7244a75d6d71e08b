import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joined, letters, wordEnd } from './word-ends.ts'

/** The text up to its last whole word within each number of characters. */
const ends = (text: string) => [
  ...new Set(Array.from({ length: text.length + 1 }, (_, at) => text.slice(0, wordEnd(text, at)).trimEnd())),
]

describe('The end of a word', () => {
  it.each([
    ['Hello there, you.', ['', 'Hello', 'Hello there,', 'Hello there, you.']],
    ['one\ttwo\u00a0three\u3000four', ['', 'one', 'one\ttwo', 'one\ttwo\u00a0three', 'one\ttwo\u00a0three\u3000four']],
    ['正午から、夜まで。', ['', '正午', '正午から、', '正午から、夜', '正午から、夜まで。']],
    ['星期一休息', ['', '星期一', '星期一休息']],
    ['วันอังคาร', ['', 'วัน', 'วันอังคาร']],
    ['Room 東京タワー please', ['', 'Room', 'Room 東京タワー', 'Room 東京タワー please']],
    ['안녕하세요 저는', ['', '안녕하세요', '안녕하세요 저는']],
  ])('of %j is the only place where it is parted', (text, expected) => {
    expect(ends(text)).toEqual(expected)
  })

  it('is within the text, and never far behind what was asked for', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', ' ', '。', 'か', '日', '\u3000', '𠮷', 'ท', '😀', '-') })
    fc.assert(
      fc.property(texts, fc.integer({ min: -2, max: 40 }), (text, at) => {
        const end = wordEnd(text, at)
        expect(end).toBeGreaterThanOrEqual(0)
        expect(end).toBeLessThanOrEqual(text.length)
        expect(text.isWellFormed()).toBe(true)
        expect(text.slice(0, end).isWellFormed()).toBe(true)
        expect(letters(joined(text.slice(0, end).trimEnd(), text.slice(end).trimStart()))).toBe(letters(text))
      }),
    )
  })
})

describe('A text that was parted', () => {
  it.each([
    ['Hello', 'there', 'Hello there'],
    ['', 'there', 'there'],
    ['Hello', '', 'Hello'],
    ['正午から、', '夜まで。', '正午から、夜まで。'],
    ['𠮷', '😀', '𠮷😀'],
  ])('as %j and %j is joined as it was', (first, rest, whole) => {
    expect(joined(first, rest)).toBe(whole)
  })
})
