import { describe, expect, it } from 'vitest'
import { readRange } from './byte-range.ts'

describe('A range of 100 bytes', () => {
  it.each([
    ['bytes=0-9', { from: 0, until: 10 }],
    ['BYTES=90-', { from: 90, until: 100 }],
    ['bytes=99-99', { from: 99, until: 100 }],
    ['bytes=90-200', { from: 90, until: 100 }],
    ['bytes=90-99999999999999999999999', { from: 90, until: 100 }],
    ['bytes=-10', { from: 90, until: 100 }],
    ['bytes=-1000', { from: 0, until: 100 }],
  ])('%s is taken', (header, range) => {
    expect(readRange(header, 100)).toEqual(range)
  })

  it.each(['bytes=100-', 'bytes=100-200', 'bytes=-0', 'bytes=99999999999999999999999-'])(
    '%s is not there',
    (header) => {
      expect(readRange(header, 100)).toBe('unsatisfiable')
    },
  )

  it.each([undefined, '', 'bytes=-', 'bytes=9-1', 'bytes=0-1,5-6', 'items=0-1', 'bytes=a-b', 'bytes=0x1-2'])(
    '%s means all of it',
    (header) => {
      expect(readRange(header, 100)).toBeNull()
    },
  )
})
