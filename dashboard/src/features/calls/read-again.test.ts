import { describe, expect, it } from 'vitest'
import { readAgainMs } from './read-again.ts'

const ENDED = '2026-01-01T10:00:00.000Z'
const nowMs = new Date('2026-01-01T10:01:00.000Z').getTime()
const scored = { qa_status: 'scored', extraction_status: 'filled' } as const
const pending = { qa_status: 'pending', extraction_status: null } as const

describe('a call is read again', () => {
  it.each([
    ['that nobody has answered yet', { call: { ended_at: null }, session: undefined, isFollowed: false }, 2_000],
    ['whose events are not to be had', { call: { ended_at: null }, session: pending, isFollowed: false }, 2_000],
    ['that is followed: its events tell when', { call: { ended_at: null }, session: pending, isFollowed: true }, false],
    ['that is not scored yet', { call: { ended_at: ENDED }, session: pending, isFollowed: false }, 5_000],
    [
      'whose end is not noted in its session',
      { call: { ended_at: ENDED }, session: { ...scored, qa_status: null }, isFollowed: false },
      5_000,
    ],
    [
      'of which nothing is extracted yet',
      { call: { ended_at: ENDED }, session: { ...scored, extraction_status: 'pending' as const }, isFollowed: false },
      5_000,
    ],
    ['that is all there', { call: { ended_at: ENDED }, session: scored, isFollowed: false }, false],
    ['in which nobody has talked', { call: { ended_at: ENDED }, session: undefined, isFollowed: false }, false],
  ])('%s', (_name, known, expected) => expect(readAgainMs(known, nowMs)).toBe(expected))

  it('no more when it has been waited for long', () => {
    const known = { call: { ended_at: ENDED }, session: pending, isFollowed: false }
    expect(readAgainMs(known, nowMs + 600_000)).toBe(false)
  })
})
