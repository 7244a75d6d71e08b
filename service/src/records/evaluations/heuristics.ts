import type { SessionEndReason } from '../call-values.ts'
import type { CriterionScore } from './evaluation-store.ts'
import { asScore } from './scores.ts'

/** What is looked at of a conversation. Times are ms since the session's start. */
export type Measured = {
  durationMs: number
  endReason: SessionEndReason | null
  turns: { role: string; start_ms: number; end_ms: number; interrupted: boolean }[]
  calls: { status: string; start_ms: number; duration_ms: number }[]
}

/** A pause of this length is a thought, not dead air. */
const PAUSE_MS = 3_000
/** So much of a call in dead air is the worst that there is. */
const MAX_DEAD_SHARE = 0.25
/** So many of an agent's turns stopped by the caller are the worst that there is. */
const MAX_INTERRUPTED_SHARE = 0.5
/** Whoever hangs up before has got nothing. */
const EARLY_MS = 15_000
/** Whoever talks less, or more, than this of the time listens too much, or too little. */
const FAIR_SHARE = { least: 0.2, most: 0.8 }

/**
 * What can be told of a conversation without understanding it, each from 0 to 1: dead air, interruptions, failed tools, callers
 * who hang up at once, who talks how much. What there was no occasion for is left out. It is a hint where to look, no judgement.
 */
export function heuristicCriteria(measured: Measured): CriterionScore[] {
  const found = [deadAir, interruptions, toolErrors, earlyHangup, talkShare].flatMap((look) => look(measured) ?? [])
  return found.map((criterion) => ({ ...criterion, score: asScore(criterion.score) }))
}

function deadAir({ durationMs, turns, calls }: Measured): CriterionScore | null {
  if (durationMs <= 0 || turns.length === 0) return null
  const busy = [
    ...turns.map(({ start_ms, end_ms }) => [start_ms, end_ms] as const),
    ...calls.map(({ start_ms, duration_ms }) => [start_ms, start_ms + duration_ms] as const),
  ].toSorted(([a], [b]) => a - b)
  let [untilMs, deadMs] = [busy[0]?.[0] ?? 0, 0]
  for (const [startMs, endMs] of busy) {
    deadMs += Math.max(0, startMs - untilMs - PAUSE_MS)
    untilMs = Math.max(untilMs, endMs)
  }
  const share = deadMs / durationMs
  const reason = `Nobody spoke for ${seconds(deadMs)} s of ${seconds(durationMs)} s, pauses of up to 3 s not counted.`
  return { name: 'dead_air', score: 1 - share / MAX_DEAD_SHARE, reason }
}

function interruptions({ turns }: Measured): CriterionScore | null {
  const own = turns.filter(({ role }) => role === 'agent')
  if (own.length === 0) return null
  const stopped = own.filter(({ interrupted }) => interrupted).length
  const reason = `The caller stopped the agent in ${stopped} of its ${own.length} turns.`
  return { name: 'interruptions', score: 1 - stopped / own.length / MAX_INTERRUPTED_SHARE, reason }
}

function toolErrors({ calls }: Measured): CriterionScore | null {
  if (calls.length === 0) return null
  const failed = calls.filter(({ status }) => status !== 'ok').length
  const reason = `${failed} of ${calls.length} function calls failed.`
  return { name: 'tool_errors', score: 1 - failed / calls.length, reason }
}

function earlyHangup({ durationMs, endReason }: Measured): CriterionScore {
  const isEarly = endReason === 'caller_hangup' && durationMs < EARLY_MS
  const reason = isEarly
    ? `The caller hung up after ${seconds(durationMs)} s.`
    : 'The caller did not hang up in the first 15 s.'
  return { name: 'early_hangup', score: isEarly ? 0 : 1, reason }
}

function talkShare({ turns }: Measured): CriterionScore | null {
  const spokenMs = (role: string) =>
    turns.filter((turn) => turn.role === role).reduce((sum, turn) => sum + Math.max(0, turn.end_ms - turn.start_ms), 0)
  const [agentMs, callerMs] = [spokenMs('agent'), spokenMs('caller')]
  if (agentMs + callerMs === 0) return null
  const share = agentMs / (agentMs + callerMs)
  const { least, most } = FAIR_SHARE
  const score = share < least ? share / least : share > most ? (1 - share) / (1 - most) : 1
  return { name: 'talk_share', score, reason: `The agent spoke ${Math.round(share * 100)}% of what was spoken.` }
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1)
}
