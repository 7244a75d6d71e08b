import { makeRandom } from '../../../simulator/src/carrier/random.ts'
import { killProgram } from '../harness/program.ts'
import { stillOpen } from './crash-check.ts'
import { type CrashOptions, ROUNDS } from './crash-options.ts'
import { type CrashResult, crash } from './crash-round.ts'
import type { Stage, StageServer } from './crash-stage.ts'
import { crashStart } from './crash-start.ts'
import type { CrashPoint, Workload } from './points.ts'

/** Kills of one kind that are done one after the other on one stage. `point: null`: at random. */
export type Job = { name: string; point: CrashPoint | null; rounds: number }

export const AT_RANDOM = 'at random'

/** A moment that comes often is not always met at its first time. */
const TIMES_MAX = 3
const START_TRIES = 5
const RANDOM_MS_MIN = 500
const RANDOM_MS_SPAN = 6_000
const ALL: Workload[] = ['talk', 'admin', 'rollout', 'dial', 'block']

/** What is to be done, the longest first: then the stages are done at about the same time. */
export function jobsOf(points: readonly CrashPoint[], { rounds, random, stages }: CrashOptions): Job[] {
  const parts = Array.from({ length: stages }, (_, part) => Math.floor((random + part) / stages))
  const chance = parts.filter((part) => part > 0).map((part) => ({ name: AT_RANDOM, point: null, rounds: part }))
  const roundsOf = ({ share }: CrashPoint) => rounds ?? Math.ceil(ROUNDS * share)
  const named = points.map((point) => ({ name: point.name, point, rounds: roundsOf(point) }))
  return [...chance, ...named.toSorted((a, b) => weightOf(b.point) - weightOf(a.point))]
}

function weightOf({ does, way }: CrashPoint): number {
  if (way !== 'at-once') return 3
  return does === 'talk' || does === 'dial' ? 2 : 1
}

/** Where a job is done, and how. `each` hears of each kill. */
export type Doing = { server: StageServer; stage: Stage; options: CrashOptions; each: () => void }

/** Does a job. What the service takes its time with is waited for at the end of all of them. */
export async function doJob(doing: Doing, { name, point, rounds }: Job): Promise<CrashResult[]> {
  const { stage, options, each } = doing
  const random = makeRandom(seedOf(options.seed, name))
  const results: CrashResult[] = []
  // A start that takes too long on a busy machine must not end what the other stages do.
  await stage.runWith(point?.settings ?? {}).catch((error: unknown) => recover(stage, error))
  for (let round = 0; round < rounds; round++) {
    results.push(
      ...(await triedKill(() => oneKill(doing, point, random).catch((error) => recover(stage, error)), options)),
    )
    each()
  }
  return results
}

/** A kill whose moment did not come says nothing of the moment: it is tried again. What it found counts all the same. */
async function triedKill(kill: () => Promise<CrashResult>, { again }: CrashOptions): Promise<CrashResult[]> {
  const results = [await kill()]
  for (let last = results.at(-1); last && isMissed(last) && results.length <= again; last = results.at(-1)) {
    last.isTriedAgain = true
    results.push(await kill())
  }
  return results
}

function isMissed({ isReached, failures }: CrashResult): boolean {
  return !isReached && failures.length === 0
}

/** Waits until nothing is open any more of what the service took its time with in these; what is, is stuck. */
export async function collectDebts({ stage, options }: Doing, results: readonly CrashResult[]): Promise<void> {
  const debts = results.flatMap((result) => result.debts)
  const open = new Set(await stillOpen(stage, debts, options.settleSeconds * 1_000))
  for (const result of results) result.stuck.push(...result.debts.filter((debt) => open.has(debt)))
  // What a dead process was delivering comes again when its lease is over.
  const last = results.at(-1)
  if (last) last.repeats += stage.receiver.takeRepeats()
}

function oneKill({ server, stage, options }: Doing, point: CrashPoint | null, random: () => number) {
  const { sabotage } = options
  const how = { reachMs: options.reachSeconds * 1_000, settleMs: options.settleSeconds * 1_000, sabotage }
  if (!point) return crash(stage, { afterMs: RANDOM_MS_MIN + random() * RANDOM_MS_SPAN, kinds: ALL }, how)
  const times = 1 + Math.floor(random() * (point.timesMax ?? TIMES_MAX))
  const wanted = sabotage?.isMissed ? { ...point, is: () => false } : point
  return point.does === 'start'
    ? crashStart(server, stage, { point: wanted, times })
    : crash(stage, { point: wanted, times }, how)
}

/** A round that could not be done is a fault, and the next one begins anew. */
async function recover(stage: Stage, error: unknown): Promise<CrashResult> {
  const reason = error instanceof Error ? error.message : String(error)
  stage.trap.disarm()
  stage.pgProxy.mend()
  await stage.carrier.stopRinging()
  const startMs = await restartAnyhow(stage)
  await stage.carrier.hangUp()
  const nothing = { lost: [], doubledDials: [], stuck: [], leases: [], debts: [] }
  return { ...nothing, failures: [reason], isReached: false, startMs, told: 0, repeats: 0 }
}

/** A start that takes too long is given up, and tried again. */
async function restartAnyhow(stage: Stage, tries = START_TRIES): Promise<number> {
  await killProgram(stage.pid)
  return stage.restart().catch((error: unknown) => {
    if (tries <= 1) throw error
    return restartAnyhow(stage, tries - 1)
  })
}

/** Each kind of kill has chances of its own: one alone is as it is among all. */
function seedOf(seed: number, name: string): number {
  return [...name].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 1_000_003, seed)
}
