import { describe, expect, it } from 'vitest'
import { inPlace } from './still-rows.ts'

type Row = { key: string; words: string }

const rows = (...keys: string[]): Row[] => keys.map((key) => ({ key, words: `${key} now` }))
const shown = (...keys: string[]): Row[] => keys.map((key) => ({ key, words: `${key} before` }))
const inPlaceOf = (before: Row[], now: Row[]) => inPlace(before, now, ({ key }) => key).map(({ words }) => words)

describe('rows that stay where they are', () => {
  it('have a new one before them wait, and are up to date', () => {
    expect(inPlaceOf(shown('b', 'c'), rows('a', 'b', 'c'))).toEqual(['b now', 'c now'])
  })

  it('keep the place of one that is gone', () => {
    expect(inPlaceOf(shown('a', 'b', 'c'), rows('c', 'a'))).toEqual(['a now', 'b before', 'c now'])
  })

  it('have others follow them', () => {
    expect(inPlaceOf(shown('a', 'b'), rows('a', 'b', 'c', 'd'))).toEqual(['a now', 'b now', 'c now', 'd now'])
  })

  it('have others follow them where all of them are gone', () => {
    expect(inPlaceOf(shown('a', 'b'), rows('c'))).toEqual(['a before', 'b before', 'c now'])
  })

  it('make room where there are none', () => {
    expect(inPlaceOf(shown('a', 'b'), [])).toEqual([])
  })
})
