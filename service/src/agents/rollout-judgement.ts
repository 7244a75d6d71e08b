import type { AgentVersionId } from '../kernel/ids.ts'
import type { RolloutPolicy } from './rollout-policy-store.ts'
import { hundredthsOf } from './rollout-shares.ts'

/**
 * What became of looking at a rollout. no_policy, disabled, no_rollout: there is nothing to look at. insufficient_data: a version
 * has too few scores, and none does badly. rollback_recommended: a version does badly; rolled_back: it has lost its share.
 */
export const GOVERNANCE_STATUSES = [
  'disabled',
  'no_policy',
  'no_rollout',
  'insufficient_data',
  'healthy',
  'rollback_recommended',
  'rolled_back',
] as const
export type GovernanceStatus = (typeof GOVERNANCE_STATUSES)[number]

/** A version, with the percentage of its agent's calls that it answers. */
export type SharedVersion = { agent_version_id: AgentVersionId; version_number: number; traffic_percentage: number }

/** What a version's calls were worth; null of none. */
type Figures = { eval_count: number; avg_score: number | null; high_quality_rate: number | null }

/** `breached`: there are enough scores, and they are below what the policy wants. */
export type JudgedVersion = SharedVersion & Figures & { breached: boolean }

/** What is thought of a rollout, and why, in sentences. */
export type Judgement = {
  status: GovernanceStatus
  reasons: string[]
  /** Null when the agent has published nothing. */
  published_version: JudgedVersion | null
  /** In the order of the shares, with those that they had when they were judged. */
  rollout_versions: JudgedVersion[]
}

type Judged = {
  policy: RolloutPolicy | null
  published: Omit<SharedVersion, 'traffic_percentage'> | null
  rollouts: SharedVersion[]
  /** What has no scores is not in it. */
  scores: ReadonlyMap<AgentVersionId, { eval_count: number; avg_score: number; high_quality_rate: number }>
}

/**
 * Judges a rollout by what its versions' calls were worth. A version with fewer scores than the policy wants is never breached,
 * whatever they are, and the published version is never judged, only told of: it is what calls fall back on.
 */
export function judgeRollout({ policy, published, rollouts, scores }: Judged): Judgement {
  const judge = (version: SharedVersion): JudgedVersion => {
    const figures = scores.get(version.agent_version_id) ?? { eval_count: 0, avg_score: null, high_quality_rate: null }
    const isPublished = version.agent_version_id === published?.agent_version_id
    return {
      ...version,
      ...figures,
      breached: !isPublished && policy !== null && shortcomings(figures, policy).length > 0,
    }
  }
  const rollout_versions = rollouts.map(judge)
  const others = rollout_versions.filter(({ agent_version_id }) => agent_version_id !== published?.agent_version_id)
  // All that others do not have, whether it has a share of its own or not.
  const rest = hundredthsOf(100) - others.reduce((sum, each) => sum + hundredthsOf(each.traffic_percentage), 0)
  const published_version = published && judge({ ...published, traffic_percentage: rest / 100 })
  return { ...concluded({ policy, published_version, others }), published_version, rollout_versions }
}

type Known = { policy: RolloutPolicy | null; published_version: JudgedVersion | null; others: JudgedVersion[] }

function concluded({ policy, published_version, others }: Known): Pick<Judgement, 'status' | 'reasons'> {
  if (!policy) return { status: 'no_policy', reasons: ['The agent has no rollout policy.'] }
  if (!policy.enabled)
    return { status: 'disabled', reasons: ['The rollout policy is not enabled: nothing is done by it.'] }
  if (!published_version)
    return {
      status: 'no_rollout',
      reasons: ['The agent has published nothing, so no version has a share of its calls.'],
    }
  if (others.length === 0)
    return { status: 'no_rollout', reasons: ["No version but the published one has a share of the agent's calls."] }
  const published = shortcomings(published_version, policy).map(
    (what) => `The published version ${published_version.version_number} ${what}; it is never changed.`,
  )
  return { status: statusOf(others, policy), reasons: [...others.flatMap((each) => told(each, policy)), ...published] }
}

function statusOf(versions: JudgedVersion[], { min_eval_count }: RolloutPolicy): GovernanceStatus {
  if (versions.some(({ breached }) => breached)) return 'rollback_recommended'
  return versions.some(({ eval_count }) => eval_count < min_eval_count) ? 'insufficient_data' : 'healthy'
}

function told(version: JudgedVersion, policy: RolloutPolicy): string[] {
  const { version_number: number, eval_count, avg_score, high_quality_rate } = version
  const name = `Version ${number}`
  if (eval_count < policy.min_eval_count) {
    const span = policy.lookback_hours === 1 ? 'the last hour' : `the last ${policy.lookback_hours} hours`
    return [
      `${name} has ${eval_count} of the ${policy.min_eval_count} scored calls in ${span} that are needed to judge it.`,
    ]
  }
  const found = shortcomings(version, policy)
  if (found.length > 0) return found.map((what) => `${name} ${what}.`)
  return [
    `${name} scores ${avg_score} on average in ${callsText(eval_count)}, ${percent(high_quality_rate)} of high quality.`,
  ]
}

/** In what a version falls short, as the rest of a sentence that begins with its name; nothing while too little is known. */
function shortcomings({ eval_count, avg_score, high_quality_rate }: Figures, policy: RolloutPolicy): string[] {
  const { min_eval_count, min_avg_score, min_high_quality_rate } = policy
  if (eval_count < min_eval_count || avg_score === null || high_quality_rate === null) return []
  const calls = callsText(eval_count)
  return [
    ...(avg_score < min_avg_score ? [`scores ${avg_score} on average in ${calls}, less than ${min_avg_score}`] : []),
    ...(high_quality_rate < min_high_quality_rate
      ? [`has ${percent(high_quality_rate)} of high quality in ${calls}, less than ${percent(min_high_quality_rate)}`]
      : []),
  ]
}

function callsText(count: number): string {
  return count === 1 ? 'one call' : `${count} calls`
}

function percent(rate: number | null): string {
  return `${Math.round((rate ?? 0) * 10_000) / 100}%`
}
