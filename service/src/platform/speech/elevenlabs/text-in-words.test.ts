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
