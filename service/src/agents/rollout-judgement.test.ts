import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AgentVersionId } from '../kernel/ids.ts'
import { type Judgement, judgeRollout } from './rollout-judgement.ts'
import type { RolloutPolicy } from './rollout-policy-store.ts'

const POLICY: RolloutPolicy = {
  ...{ enabled: true, lookback_hours: 24, min_avg_score: 0.7, min_eval_count: 20, min_high_quality_rate: 0.6 },
}
const GOOD = { eval_count: 40, avg_score: 0.9, high_quality_rate: 0.95 }
const BAD = { eval_count: 20, avg_score: 0.31, high_quality_rate: 0.05 }

const idOf = (number: number) => `version-${number}` as AgentVersionId
const version = (number: number, traffic_percentage = 30) => {
  return { agent_version_id: idOf(number), version_number: number, traffic_percentage }
}
const PUBLISHED = { agent_version_id: idOf(1), version_number: 1 }

type Scores = Record<number, typeof GOOD>

function judged(scores: Scores, { policy = POLICY, rollouts = [version(2)], ...of }: Partial<Given> = {}): Judgement {
  const published = of.published === undefined ? PUBLISHED : of.published
  const known = new Map(Object.entries(scores).map(([number, figures]) => [idOf(Number(number)), figures]))
  return judgeRollout({ policy, rollouts, published, scores: known })
}
type Given = {
  policy: RolloutPolicy | null
  rollouts: ReturnType<typeof version>[]
  published: typeof PUBLISHED | null
}

describe('a rollout', () => {
  it('is to be rolled back when a version scores badly, with the figures that say so', () => {
    expect(judged({ 1: GOOD, 2: BAD })).toEqual({
      status: 'rollback_recommended',
      reasons: [
        'Version 2 scores 0.31 on average in 20 calls, less than 0.7.',
        'Version 2 has 5% of high quality in 20 calls, less than 60%.',
      ],
      published_version: { ...version(1, 70), ...GOOD, breached: false },
      rollout_versions: [{ ...version(2), ...BAD, breached: true }],
    })
  })

  it('is judged by either figure, and is sound at its limit', () => {
    const limit = { eval_count: 20, avg_score: 0.7, high_quality_rate: 0.6 }
    expect(judged({ 2: limit }).status).toBe('healthy')
    expect(judged({ 2: { ...limit, avg_score: 0.6999 } }).status).toBe('rollback_recommended')
    expect(judged({ 2: { ...limit, high_quality_rate: 0.5999 } }).status).toBe('rollback_recommended')
  })

  it('is left alone with a score too few', () => {
    const { status, reasons, rollout_versions } = judged({ 2: { ...BAD, eval_count: 19 } })
    expect([status, rollout_versions[0]?.breached]).toEqual(['insufficient_data', false])
    expect(reasons).toEqual([
      'Version 2 has 19 of the 20 scored calls in the last 24 hours that are needed to judge it.',
    ])
  })

  it('is told of in words that fit one call and one hour', () => {
    const policy = { ...POLICY, min_eval_count: 1, lookback_hours: 1 }
    const one = { eval_count: 1, avg_score: 0.9, high_quality_rate: 1 }
    expect(judged({ 2: one }, { policy }).reasons).toEqual([
      'Version 2 scores 0.9 on average in one call, 100% of high quality.',
    ])
    expect(judged({ 2: { ...one, avg_score: 0.31 } }, { policy }).reasons).toEqual([
      'Version 2 scores 0.31 on average in one call, less than 0.7.',
    ])
    expect(judged({}, { policy }).reasons).toEqual([
      'Version 2 has 0 of the 1 scored calls in the last hour that are needed to judge it.',
    ])
  })

  it('says how good it is, and only tells of a published version that is not', () => {
    const { status, reasons, published_version } = judged({ 1: BAD, 2: GOOD })
    expect([status, published_version?.breached]).toEqual(['healthy', false])
    expect(reasons).toEqual([
      'Version 2 scores 0.9 on average in 40 calls, 95% of high quality.',
      'The published version 1 scores 0.31 on average in 20 calls, less than 0.7; it is never changed.',
      'The published version 1 has 5% of high quality in 20 calls, less than 60%; it is never changed.',
    ])
  })

  it('tells of a published version that has a share of its own, too, all that others do not have', () => {
    const rollouts = [version(1, 50), version(2, 10)]
    const { published_version, rollout_versions } = judged({ 1: GOOD, 2: GOOD }, { rollouts })
    expect(published_version?.traffic_percentage).toBe(90)
    expect(rollout_versions.map(({ traffic_percentage }) => traffic_percentage)).toEqual([50, 10])
  })

  it.each<[status: string, given: Partial<Given>]>([
    ['no_policy', { policy: null }],
    ['disabled', { policy: { ...POLICY, enabled: false } }],
    ['no_rollout', { rollouts: [] }],
    ['no_rollout', { published: null }],
    ['no_rollout', { rollouts: [version(1)] }],
  ])('is %s, however bad its versions are', (status, given) => {
    const judgement = judged({ 1: BAD, 2: BAD }, given)
    expect(judgement).toMatchObject({ status, reasons: [expect.stringMatching(/\.$/)] })
  })
})

describe('a judgement', () => {
  const rate = fc.integer({ min: 0, max: 100 }).map((each) => each / 100)
  const figures = fc.record({ eval_count: fc.integer({ min: 0, max: 60 }), avg_score: rate, high_quality_rate: rate })
  const anything = fc.record({
    policy: fc.record({
      ...{ enabled: fc.boolean(), lookback_hours: fc.constant(24), min_avg_score: rate },
      ...{ min_eval_count: fc.integer({ min: 1, max: 40 }), min_high_quality_rate: rate },
    }),
    shares: fc.array(fc.integer({ min: 0, max: 25 }), { maxLength: 4 }),
    // Of some versions nothing is known.
    known: fc.array(fc.option(figures), { minLength: 6, maxLength: 6 }),
  })
  const judgementOf = ({ policy, shares, known }: typeof anything extends fc.Arbitrary<infer T> ? T : never) => {
    const rollouts = shares.map((share, index) => version(index + 2, share))
    const scores: Scores = Object.fromEntries(
      known.flatMap((each, index) => (each ? [[index + 1, each] as const] : [])),
    )
    return { rollouts, judgement: judged(scores, { policy, rollouts }) }
  }

  it('never is against a version of which too little is known, nor against the published one', () => {
    fc.assert(
      fc.property(anything, (given) => {
        const { judgement } = judgementOf(given)
        const breached = [...judgement.rollout_versions, judgement.published_version].filter((each) => each?.breached)
        for (const each of breached) {
          expect(each?.eval_count).toBeGreaterThanOrEqual(given.policy.min_eval_count)
          expect(each?.version_number).not.toBe(1)
        }
        if (judgement.status === 'rollback_recommended') {
          expect(given.policy.enabled).toBe(true)
          expect(breached).not.toEqual([])
        }
      }),
    )
  })

  it('never gives a version more than it had, whoever is left out', () => {
    fc.assert(
      fc.property(anything, (given) => {
        const { rollouts, judgement } = judgementOf(given)
        expect(judgement.rollout_versions.map(({ traffic_percentage }) => traffic_percentage)).toEqual(
          rollouts.map(({ traffic_percentage }) => traffic_percentage),
        )
        const shared = rollouts.reduce((sum, each) => sum + each.traffic_percentage, 0)
        expect(judgement.published_version?.traffic_percentage).toBeCloseTo(100 - shared, 6)
      }),
    )
  })
})
