import { describe, expect, it } from 'vitest'
import { growth } from '../../../../test/harness/growth.ts'
import { isUnfitReason } from './unfit.ts'

describe('isUnfitReason', () => {
  it.each([
    'The voice that was asked for was not found.',
    'voice_not_found: A voice does not exist with this id.',
    'A model with this id does not exist.',
  ])('blames what was asked for: %s', (reason) => expect(isUnfitReason(reason)).toBe(true))

  it('reads an endless sentence in no time', () => {
    const read = (words: number) => expect(isUnfitReason('voice '.repeat(words))).toBe(false)
    expect(growth(read, 6_000)).toBeLessThan(2.5)
  })
})
