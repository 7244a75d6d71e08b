import { type Bed, type Measurement, measure } from './measure.ts'
import type { System } from './systems.ts'
import { slowYardstick, voidReasons } from './verdict.ts'

/** Every system once under the same number of calls. `voidBecause` is empty when the round counts. */
export type Round = { measurements: Measurement[]; voidBecause: string[] }

/** One repeat at one number of calls: its last round is the one that is used, those before it were void. */
export type Repeat = { calls: number; repeat: number; rounds: Round[] }

/** What to run. `onRound` is told of each round as it ends. */
export type Schedule = {
  systems: readonly System[]
  calls: readonly number[]
  repeats: number
  bed: Bed
  onRound: (calls: number, repeat: number, round: Round) => void
}

const RETRIES_MAX = 2

/**
 * Runs A B, A B, … at each number of calls, so that what drifts on the machine drifts for all. A void round is retried twice
 * at most, and twice at most one more repeat is added where the yardstick is slow in the median of them.
 */
export async function runAll(schedule: Schedule): Promise<Repeat[]> {
  const repeats: Repeat[] = []
  for (const calls of schedule.calls) repeats.push(...(await runRepeats(schedule, calls)))
  return repeats
}

async function runRepeats(schedule: Schedule, calls: number): Promise<Repeat[]> {
  const repeats: Repeat[] = []
  const isSlow = () => slowYardstick(repeats.map(({ rounds }) => rounds.at(-1)?.measurements ?? [])).length > 0
  while (repeats.length < schedule.repeats || (isSlow() && repeats.length < schedule.repeats + RETRIES_MAX)) {
    const repeat = repeats.length + 1
    repeats.push({ calls, repeat, rounds: await runRepeat(schedule, calls, repeat) })
  }
  return repeats
}

async function runRepeat(schedule: Schedule, calls: number, repeat: number): Promise<Round[]> {
  const rounds: Round[] = []
  for (let attempt = 0; attempt <= RETRIES_MAX; attempt++) {
    const measurements: Measurement[] = []
    for (const system of schedule.systems) measurements.push(await measure(system, calls, schedule.bed))
    const round = { measurements, voidBecause: voidReasons(measurements) }
    rounds.push(round)
    schedule.onRound(calls, repeat, round)
    if (round.voidBecause.length === 0) break
  }
  return rounds
}
