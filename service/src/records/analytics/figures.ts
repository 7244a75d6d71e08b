import { type FigureKey, type FigureRow, type OutcomeCount, SCORE_PARTS } from './figures-store.ts'
import { mergeTimes, percentileMs, type ResponseTimes, readTimes, timesIn } from './response-times.ts'

/** What calls came to. A rate, an average or a percentile of nothing is null. */
export type Figures = {
  calls: number
  answered: number
  /** Of all calls, from 0 to 1. */
  answer_rate: number | null
  statuses: { completed: number; busy: number; failed: number; 'no-answer': number; canceled: number }
  escalated: number
  minutes: number
  /** Calls whose cost is known. */
  costed: number
  cost_usd: number | null
  interruptions: number
  /** Answers of agents whose time is known. */
  responses: number
  response_p50_ms: number | null
  response_p95_ms: number | null
  /** Sessions with a score. */
  scored: number
  avg_score: number | null
  high_quality_rate: number | null
  /** Null: all others. */
  outcomes: OutcomeCount[]
}

/** What can be added up: figures are made of it once it is. */
type Sums = Omit<FigureRow, keyof FigureKey | 'response_times'> & { times: ResponseTimes }

/** As calls show their cost. */
const USD_DIGITS = 6

/** What one row of the roll-ups can add to a sum. */
export function sumsOf({ response_times, ...row }: FigureRow): Sums {
  return { ...row, times: readTimes(response_times) }
}

/** All of them together. */
export function addUp(all: readonly Sums[]): Sums {
  const sum = (name: keyof Omit<Sums, 'times'>) => all.reduce((total, each) => total + each[name], 0)
  return {
    ...{ calls: sum('calls'), answered: sum('answered'), completed: sum('completed'), busy: sum('busy') },
    ...{ failed: sum('failed'), no_answer: sum('no_answer'), canceled: sum('canceled'), escalated: sum('escalated') },
    ...{ talk_seconds: sum('talk_seconds'), costed: sum('costed'), cost_usd: sum('cost_usd') },
    ...{ interruptions: sum('interruptions'), scored: sum('scored') },
    ...{ high_quality: sum('high_quality'), score_sum: sum('score_sum') },
    times: mergeTimes(all.map(({ times }) => times)),
  }
}

/** Sums as the API shows them, with the outcomes that occur most and, as null, all others. */
export function figuresOf(sums: Sums, outcomes: readonly OutcomeCount[] = []): Figures {
  const { calls, answered, scored, times } = sums
  return {
    ...{ calls, answered, answer_rate: share(answered, calls) },
    statuses: {
      ...{ completed: sums.completed, busy: sums.busy, failed: sums.failed },
      ...{ 'no-answer': sums.no_answer, canceled: sums.canceled },
    },
    escalated: sums.escalated,
    minutes: rounded(sums.talk_seconds / 60, 2),
    ...{ costed: sums.costed, cost_usd: sums.costed === 0 ? null : rounded(sums.cost_usd, USD_DIGITS) },
    interruptions: sums.interruptions,
    responses: timesIn(times),
    response_p50_ms: percentileMs(times, 50),
    response_p95_ms: percentileMs(times, 95),
    ...{ scored, avg_score: average(sums.score_sum, scored), high_quality_rate: share(sums.high_quality, scored) },
    outcomes: inOrder(outcomes),
  }
}

/** Those that occur most first, all others last. */
function inOrder(outcomes: readonly OutcomeCount[]): OutcomeCount[] {
  const isLast = ({ outcome }: OutcomeCount) => Number(outcome === null)
  return outcomes
    .map(({ outcome, calls }) => ({ outcome, calls }))
    .toSorted((a, b) => isLast(a) - isLast(b) || b.calls - a.calls || ((a.outcome ?? '') < (b.outcome ?? '') ? -1 : 1))
}

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : rounded(part / whole, 4)
}

/** Of whole parts of scores: half of a part is rounded up, whatever was added first. */
function average(parts: number, count: number): number | null {
  return count === 0 ? null : Math.round(parts / count) / SCORE_PARTS
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
