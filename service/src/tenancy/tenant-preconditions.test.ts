import { describe, expect, it } from 'vitest'
import { checkPrecondition, type Precondition } from './tenant-preconditions.ts'

const ETAG = '"a1"'

function outcome(conditions: Precondition, etag: string | null): string {
  try {
    checkPrecondition(conditions, etag)
    return 'goes on'
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe('checkPrecondition', () => {
  it.each([
    ['no condition, stored', {}, ETAG, 'goes on'],
    ['no condition, missing', {}, null, 'goes on'],
    ['the tag', { ifMatch: ETAG }, ETAG, 'goes on'],
    ['the tag without its quotes', { ifMatch: 'a1' }, ETAG, 'goes on'],
    ['the tag in a list', { ifMatch: '"x", "a1" ,"y"' }, ETAG, 'goes on'],
    ['any tag', { ifMatch: '*' }, ETAG, 'goes on'],
    ['another tag', { ifMatch: '"x"' }, ETAG, 'precondition_failed'],
    ['a list without it', { ifMatch: '"x", "y"' }, ETAG, 'precondition_failed'],
    ['a weak tag', { ifMatch: 'W/"a1"' }, ETAG, 'precondition_failed'],
    ['nothing', { ifMatch: '' }, ETAG, 'precondition_failed'],
    ['the tag of what is missing', { ifMatch: ETAG }, null, 'precondition_failed'],
    ['any tag of what is missing', { ifMatch: '*' }, null, 'precondition_failed'],
    ['none, missing', { ifNoneMatch: '*' }, null, 'goes on'],
    ['none, stored', { ifNoneMatch: '*' }, ETAG, 'precondition_failed'],
    ['not this one, stored', { ifNoneMatch: ETAG }, ETAG, 'precondition_failed'],
    ['not that one, stored', { ifNoneMatch: '"x"' }, ETAG, 'goes on'],
    ['both, which no tenant can meet', { ifMatch: '*', ifNoneMatch: '*' }, ETAG, 'precondition_failed'],
  ])('%s', (_name, conditions, etag, expected) => {
    expect(outcome(conditions, etag)).toBe(expected)
  })

  it('does not say that something has changed which is not there', () => {
    expect(() => checkPrecondition({ ifMatch: ETAG }, null)).toThrow('Leave it out to make it.')
    expect(() => checkPrecondition({ ifMatch: '"x"' }, ETAG)).toThrow('It has changed')
  })
})
