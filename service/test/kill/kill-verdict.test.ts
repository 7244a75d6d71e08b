import { describe, expect, it } from 'vitest'
import { describeKill, type KillFigures, killFaults } from './kill-verdict.ts'

const GOOD: KillFigures = {
  afterLoss: 'next-verb',
  comebacks: [
    { streamMs: 100, audioMs: 2_400, answerMs: 400, isInProgress: true },
    { streamMs: 200, audioMs: 2_900, answerMs: 900, isInProgress: true },
  ],
  overBefore: [],
  dropped: [],
  turnsShown: 12,
  lost: [],
  doubled: [],
  ownersPerEpochMax: 1,
  epochsFell: 0,
}

describe('the verdict on a kill', () => {
  it('tells the figures', () => {
    expect(describeKill(GOOD).slice(1)).toEqual([
      'calls dropped 0',
      'resumed 2 of 2',
      'resumed p50/p99 100/200 ms after the kill',
      "first audio p50/p99 2400/2900 ms after the kill, 400/900 ms after it or the caller's last words",
      'turns lost 0 doubled 0 (of 12 shown before the kill)',
      'owners per epoch max 1, epochs that fell 0',
    ])
  })

  it('finds no fault in a good run', () => {
    expect(killFaults(GOOD)).toEqual([])
  })

  it.each([
    [{ comebacks: [] }, 'the killed node had no calls'],
    [{ dropped: ['document'] }, '1 calls were dropped'],
    [
      { comebacks: [{ streamMs: 2_001, audioMs: 2_100, answerMs: 900, isInProgress: true }] },
      '1 calls did not go on within 2000 ms',
    ],
    [
      { comebacks: [{ streamMs: 100, audioMs: null, answerMs: null, isInProgress: true }] },
      '1 calls did not go on within 2000 ms',
    ],
    [{ turnsShown: 0 }, 'no turn was shown before the kill'],
    [{ lost: ['CA1 1 agent: Hi'] }, 'lost: CA1 1 agent: Hi'],
    [{ doubled: ['CA1 1 agent: Hi'] }, 'doubled: CA1 1 agent: Hi'],
    [{ ownersPerEpochMax: 2 }, 'two nodes had one call in one epoch'],
    [{ epochsFell: 1 }, 'an epoch fell'],
  ])('names the bound that %j breaks', (change, fault) => {
    expect(killFaults({ ...GOOD, ...change })).toEqual([fault])
  })

  it('tells who ended the calls that were dropped', () => {
    const dropped = ['document', 'rest', 'document']
    expect(describeKill({ ...GOOD, dropped })[1]).toBe('calls dropped 3 (document 2, rest 1)')
  })

  it('gives six seconds where we have to notice the loss ourselves', () => {
    const comebacks = [{ streamMs: 5_000, audioMs: 5_999, answerMs: 5_999, isInProgress: true }]
    expect(killFaults({ ...GOOD, afterLoss: 'silence', comebacks })).toEqual([])
  })
})
