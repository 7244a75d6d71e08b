import { describe, expect, it } from 'vitest'
import { SequenceCheck } from './sequence-check.ts'

function balanceOf(arrived: number[], sent: number) {
  const check = new SequenceCheck()
  for (const sequence of arrived) check.accept(sequence)
  return check.balance(sent)
}

describe('SequenceCheck', () => {
  it.each([
    ['all in order', [0, 1, 2, 3], { lost: 0, doubled: 0, reordered: 0 }],
    ['one lost in the middle', [0, 1, 3], { lost: 1, doubled: 0, reordered: 0 }],
    ['the first and the last lost', [1, 2], { lost: 2, doubled: 0, reordered: 0 }],
    ['one doubled', [0, 1, 1, 2, 3], { lost: 0, doubled: 1, reordered: 0 }],
    ['one late', [0, 2, 1, 3], { lost: 0, doubled: 0, reordered: 1 }],
    ['one late, then doubled', [0, 2, 1, 1, 3], { lost: 0, doubled: 1, reordered: 1 }],
    ['nothing came', [], { lost: 4, doubled: 0, reordered: 0 }],
  ])('sees %s', (_what, arrived, balance) => {
    expect(balanceOf(arrived, 4)).toEqual(balance)
  })
})
