import { describe, expect, it } from 'vitest'
import { compareLines, linesOf } from './compared-lines.ts'

describe('two values beside each other', () => {
  it('are written a member a line, in the order of names, with texts as long as they are', () => {
    const value = {
      voice: 'ash',
      idle: { prompts: ['Hello?', 'Still there?'] },
      instructions: 'Be brief.\nBe kind.',
      tools: [],
    }
    expect(linesOf(value)).toEqual([
      ...['idle:', '  prompts:', '    - Hello?', '    - Still there?'],
      ...['instructions:', '  Be brief.', '  Be kind.', 'tools:', 'voice: ash'],
    ])
  })

  it('have what only one of them says on its own side, and what both say beside each other', () => {
    const [before, after] = ['a b c d e'.split(' '), 'a c x e f'.split(' ')]
    expect(compareLines(before, after)).toEqual([
      { before: 'a', after: 'a' },
      { before: 'b', after: null },
      { before: 'c', after: 'c' },
      { before: 'd', after: 'x' },
      { before: 'e', after: 'e' },
      { before: null, after: 'f' },
    ])
  })

  it('are still shown when they are too long to be looked through', () => {
    const lines = (word: string) => Array.from({ length: 2_100 }, (_none, at) => `${word} ${at}`)
    expect(compareLines(lines('a'), lines('b'))).toHaveLength(2_100)
  })
})
