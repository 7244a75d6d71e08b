import { makeSystems } from './all-systems.ts'
import type { Bed } from './measure.ts'
import { type Repeat, type Round, runAll } from './rounds.ts'
import type { Suite } from './suites.ts'
import { type Quality, type Row, summarise } from './summary.ts'

/** What came of a suite. */
export type SuiteResult = { suite: Suite; rows: Row[]; quality: Quality[]; repeats: Repeat[] }

/** What suites run on. `databaseUrl` and `certificate`: for those that need a PostgreSQL server, or TLS. */
export type Ground = Omit<Bed, 'plan'> & { databaseUrl: string | undefined }

/** Runs a suite; `onRound` is told of each round as it ends. */
export async function runSuite(suite: Suite, ground: Ground, onRound: (line: string) => void): Promise<SuiteResult> {
  const { seconds, warmupSeconds, rampPerSecond, churnPerSecond, callSeconds, thinkMs } = suite
  const times = { seconds, warmupSeconds, rampPerSecond, churnPerSecond, callSeconds }
  const plan = { ...times, ...(thinkMs !== undefined && { thinkMs }) }
  const bed: Bed = { ...ground, certificate: suite.tls ? ground.certificate : undefined, plan }
  const repeats = await runAll({
    systems: makeSystems(ground.databaseUrl).filter(({ name }) => suite.systems.includes(name)),
    calls: suite.calls,
    repeats: suite.repeats,
    bed,
    onRound: (calls, repeat, round) => onRound(describeRound(calls, repeat, round)),
  })
  return { suite, repeats, ...summarise(repeats) }
}

function describeRound(calls: number, repeat: number, round: Round): string {
  const costs = round.measurements.map((one) => `${one.system} ${one.cpuMsPerCallSecond.toFixed(2)}`)
  const dropped = round.measurements.flatMap(({ system, report }) =>
    report.dropReasons.map((why) => `${system}: ${why}`),
  )
  const notes = [...round.voidBecause.map((reason) => `void: ${reason}`), ...dropped].map((note) => `; ${note}`)
  return `${calls} calls, round ${repeat}: ${costs.join(', ')} ms per call-second${notes.join('')}`
}
