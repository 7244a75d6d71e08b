import { timesIn, unpackTimes } from '../records/analytics/response-times.ts'
import type { EarlierStream } from '../records/sessions.ts'
import type { Resumption } from './session/resumption.ts'

type Latency = Pick<Resumption, 'greetingMs' | 'interruptions' | 'responseTimes' | 'responsesMs'>

/**
 * How quickly the agent spoke so far. A process that was killed had stored its turns, and not what they came to: where those tell more,
 * they count.
 */
export function earlierLatency({ turns, latency }: Pick<EarlierStream, 'turns' | 'latency'>): Latency {
  const responseTimes = latency.response_times ?? null
  const responsesMs = turns.flatMap(({ timeline }) =>
    timeline ? [timeline.first_sent_ms - timeline.committed_ms] : [],
  )
  const areTold = responsesMs.length <= timesIn(unpackTimes(responseTimes))
  const spoken = turns.filter(({ role }) => role === 'agent')
  // Not by callers alone: a hand-over, or a lost stream, cuts a turn as well.
  const cut = spoken.filter(({ interrupted }) => interrupted).length
  return {
    greetingMs: latency.greeting_ms ?? greetingIn(spoken),
    interruptions: areTold ? latency.interruptions : Math.max(latency.interruptions, cut),
    ...(areTold ? { responseTimes } : { responseTimes: null, responsesMs }),
  }
}

/** What the call has cost, in USD; null where a part of it has no known price: that is stored with what was used. */
export function earlierCost(before: Pick<EarlierStream, 'turns' | 'usage' | 'costUsd'>): number | null {
  if (isUnpriced(before)) return null
  // A process that was killed had stored its turns, and not what they came to.
  const turnsUsd = before.turns.reduce((sum, turn) => sum + (turn.cost_usd ?? 0), 0)
  return Math.max(before.costUsd ?? 0, turnsUsd)
}

function isUnpriced({ usage, costUsd }: Pick<EarlierStream, 'usage' | 'costUsd'>): boolean {
  return costUsd === null && usage.input_tokens + usage.output_tokens > 0
}

/**
 * Whether a process was lost with what the call had used of its model since that was last written down: the turns that it had stored
 * tell of more answers than are counted, or of a cost where none is.
 */
export function lacksUsage(before: EarlierStream): boolean {
  const isStored = before.costUsd !== null || isUnpriced(before)
  const isCosted = isStored || before.turns.every(({ cost_usd }) => cost_usd === null)
  return !isCosted || earlierLatency(before).responsesMs !== undefined
}

/** When the agent spoke first; null where that was an answer already. */
function greetingIn([first]: EarlierStream['turns']): number | null {
  return first && first.timeline === null ? first.start_ms : null
}
