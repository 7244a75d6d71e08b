import { describe, expect, it } from 'vitest'
import { instantOf, localTime } from './local-time.ts'

describe('a time that is given in the zone of whoever gives it', () => {
  it.each(['2030-01-31T09:05', '2030-07-01T00:00', '0101-12-31T23:59'])('is %s again when it is shown', (text) => {
    expect(localTime(instantOf(text))).toBe(text)
  })

  it('is shown to the minute', () => {
    expect(localTime('2030-01-31T09:05:59.999Z')).toBe(localTime('2030-01-31T09:05:00.000Z'))
  })

  it('is none where none is given', () => {
    expect([localTime(null), instantOf('')]).toEqual(['', null])
  })
})
