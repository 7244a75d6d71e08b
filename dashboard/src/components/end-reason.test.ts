import { describe, expect, it } from 'vitest'
import { endReasonText } from './end-reason.ts'
import { DASH } from './text.ts'

describe('why a call ended', () => {
  it.each([
    ['caller_hangup', 'The caller hung up'],
    ['something_new', 'Something new'],
    [null, DASH],
  ])('is told of %j as %s', (reason, text) => expect(endReasonText(reason)).toBe(text))
})
