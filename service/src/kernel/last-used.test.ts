import { expect, it } from 'vitest'
import { LastUsed } from './last-used.ts'

it('keeps so many values, those that were asked for last', () => {
  const kept = new LastUsed<string, { of: string }>(2)
  for (const key of ['a', 'b']) kept.put(key, { of: key })
  kept.get('a')
  kept.put('c', { of: 'c' })
  expect(['a', 'b', 'c'].map((key) => kept.get(key)?.of)).toEqual(['a', undefined, 'c'])
})
