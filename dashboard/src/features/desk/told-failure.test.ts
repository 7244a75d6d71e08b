import { describe, expect, it } from 'vitest'
import { type Told, toldAfter } from './told-failure.ts'

type Seen = Parameters<typeof toldAfter>[1]

const REFUSED = new Error('There is no room now.')
const QUICKER = new Error('Somebody has it.')
const ASKED: Seen = { error: null, askedAt: 1, updatedAt: 'a', formsDone: 0, isQuicker: false }
const conflict = { error: QUICKER, isQuicker: true }

/** Which of what was seen, one after the other, has the failure forgotten. */
function forgottenAt(...all: Partial<Seen>[]): number[] {
  let known: Told | null = null
  let seen = ASKED
  return all.flatMap((change, at) => {
    seen = { ...seen, ...change }
    const { told, isForgotten } = toldAfter(known, seen)
    known = told
    return isForgotten ? [at] : []
  })
}

describe('why a move failed', () => {
  it('is told until the task goes on', () => {
    expect(forgottenAt({}, { error: REFUSED }, {}, { updatedAt: 'b' })).toEqual([3])
  })

  it('is told though the task went on while it was waited for', () => {
    expect(forgottenAt({}, { updatedAt: 'b' }, { error: REFUSED }, {}, { updatedAt: 'c' })).toEqual([4])
    expect(forgottenAt({}, { updatedAt: 'b', error: REFUSED }, {})).toEqual([])
  })

  it('stays with what somebody was quicker with, and goes with the next change', () => {
    expect(forgottenAt({}, conflict, { updatedAt: 'b' }, {}, { updatedAt: 'c' })).toEqual([4])
  })

  it('goes with the next change too where what somebody was quicker with was seen before the refusal', () => {
    expect(forgottenAt({}, { updatedAt: 'b' }, conflict, {}, { updatedAt: 'c' })).toEqual([4])
    expect(forgottenAt({}, { updatedAt: 'b', ...conflict }, { updatedAt: 'c' })).toEqual([2])
  })

  it('of one that is asked for again counts from then on', () => {
    const again = { error: null, isQuicker: false, askedAt: 2 }
    expect(forgottenAt({}, conflict, { updatedAt: 'b' }, again, conflict, { updatedAt: 'c' })).toEqual([])
  })

  it('goes when a form is done, but not one that comes after that', () => {
    expect(forgottenAt({}, conflict, { formsDone: 1 })).toEqual([2])
    expect(forgottenAt({}, { formsDone: 1 }, { error: REFUSED }, {})).toEqual([])
    expect(forgottenAt({}, { updatedAt: 'b' }, { formsDone: 1 }, conflict, { updatedAt: 'c' })).toEqual([])
  })
})
