import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TextInWords } from './text-in-words.ts'

describe('TextInWords', () => {
  it('gives whole words as soon as they are whole', () => {
    const words = new TextInWords()
    expect(['Hel', 'lo', ' the', 're, ', 'you'].map((text) => words.add(text))).toEqual([
      '',
      '',
      'Hello ',
      'there, ',
      '',
    ])
    expect(words.rest()).toBe('you ')
    expect(words.rest()).toBe('')
  })

  it('gives a text without blanks as far as its marks', () => {
    const words = new TextInWords()
    expect(['你好，欢', '迎光临。请', '问'].map((text) => words.add(text))).toEqual(['你好，', '欢迎光临。', ''])
    expect(words.rest()).toBe('请问 ')
  })

  it('holds back no more than forty characters, and cuts none of them in half', () => {
    const words = new TextInWords()
    expect(words.add('ก'.repeat(39))).toBe('')
    expect(words.add('\uD83D')).toBe('ก'.repeat(39))
    expect(words.add('\uDC4D ')).toBe('👍 ')
  })

  it('loses nothing of any text, however it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (pieces) => {
        const words = new TextInWords()
        const given = pieces.map((piece) => words.add(piece)).join('') + words.rest()
        expect(given.trimEnd()).toBe(pieces.join('').trimEnd())
      }),
    )
  })
})
