import type { Measurement, ThreadShare } from './measure.ts'
import type { Repeat, Round } from './rounds.ts'
import { median, spread } from './stats.ts'
import type { Delays } from './tally.ts'
import { relayOverFloor, slowYardstick } from './verdict.ts'

/** One system at one number of calls: medians over the repeats, sums of what must not happen. */
export type Row = {
  system: string
  calls: number
  cpuMsPerCallSecond: number
  /** Against the relay of the same round, the median of the rounds. */
  relative: Relative
  cpuSpread: number
  busyPercent: number
  rssKbPerCall: number
  rssGrowthKbPerCall: number
  callerToModel: Delays
  firstDelta: Delays
  bargeInToClear: Delays
  greeting: Delays
  firstWord: Delays
  ownTurn: Delays
  lost: number
  doubled: number
  crossed: number
  late: number
  /** Calls that it had no room for. */
  refusedCalls: number
  /** Everything else that must not happen: reordered, damaged, refused by the carrier, no clear, dropped calls. */
  otherFaults: number
  threads: ThreadShare[]
}

/** CPU and p99 delays in relays; the `clear` in ms more than the relay's, at p50. */
export type Relative = { cpu: number; callerToModelP99: number; firstDeltaP99: number; clearMs: number }

/** What to know about the rounds at one number of calls before one believes the rows. */
export type Quality = {
  calls: number
  relayOverFloor: number
  lateP99Ms: number
  lateMaxMs: number
  loadBusyPercent: number
  othersPercent: number
  stealPercent: number
  retried: number
  voidBecause: string[]
}

/** Boils the repeats down to one row per number of calls and system. */
export function summarise(repeats: readonly Repeat[]): { rows: Row[]; quality: Quality[] } {
  const byCalls = [...Map.groupBy(repeats, (repeat) => repeat.calls).values()]
  return { rows: byCalls.flatMap(rowsOf), quality: byCalls.map(qualityOf) }
}

/** The round of a repeat that counts: its last. */
function lastRound(repeat: Repeat): Round {
  return repeat.rounds.at(-1) ?? { measurements: [], voidBecause: ['nothing was run'] }
}

function rowsOf(repeats: readonly Repeat[]): Row[] {
  const rounds = repeats.map((repeat) => lastRound(repeat).measurements)
  const systems = rounds[0]?.map((one) => one.system) ?? []
  return systems.map((system) => rowOf(system, rounds))
}

function rowOf(system: string, rounds: Measurement[][]): Row {
  const own = rounds.flatMap((round) => round.filter((one) => one.system === system))
  const middle = (value: (one: Measurement) => number) => median(own.map(value))
  const total = (value: (one: Measurement) => number) => own.reduce((sum, one) => sum + value(one), 0)
  return {
    system,
    calls: own[0]?.calls ?? 0,
    cpuMsPerCallSecond: middle((one) => one.cpuMsPerCallSecond),
    relative: relativeOf(system, rounds),
    cpuSpread: spread(own.map((one) => one.cpuMsPerCallSecond)),
    busyPercent: middle((one) => one.busyPercent),
    rssKbPerCall: middle((one) => one.rssKbPerCall),
    rssGrowthKbPerCall: middle((one) => one.rssGrowthKbPerCall),
    callerToModel: middleDelays(own.map((one) => one.report.callerToModel)),
    firstDelta: middleDelays(own.map((one) => one.report.firstDelta)),
    bargeInToClear: middleDelays(own.map((one) => one.report.bargeInToClear)),
    greeting: middleDelays(own.map((one) => one.report.greeting)),
    firstWord: middleDelays(own.map((one) => one.report.firstWord)),
    ownTurn: middleDelays(own.map((one) => one.report.ownTurn)),
    lost: total(({ report }) => report.up.lost + report.down.lost + report.faults.unsent),
    doubled: total(({ report }) => report.up.doubled + report.down.doubled),
    crossed: total(({ report }) => report.faults.crossed),
    late: total(({ report }) => report.faults.late),
    refusedCalls: total(({ report }) => report.callsRefused),
    otherFaults: total(otherFaults),
    threads: middleThreads(own),
  }
}

function qualityOf(repeats: readonly Repeat[]): Quality {
  const rounds = repeats.map(lastRound)
  const measured = rounds.map((round) => round.measurements)
  const all = measured.flat()
  return {
    calls: repeats[0]?.calls ?? 0,
    relayOverFloor: median(measured.map(relayOverFloor)),
    lateP99Ms: Math.max(...all.map((one) => one.report.load.lateness.p99Ms)),
    lateMaxMs: Math.max(...all.map((one) => one.report.load.lateness.maxMs)),
    loadBusyPercent: Math.max(...all.map((one) => one.report.load.busy * 100)),
    othersPercent: Math.max(...all.map((one) => one.noise.othersPercent)),
    stealPercent: Math.max(...all.map((one) => one.noise.stealPercent)),
    retried: repeats.reduce((sum, repeat) => sum + repeat.rounds.length - 1, 0),
    voidBecause: [...slowYardstick(measured), ...rounds.flatMap((round) => round.voidBecause)],
  }
}

function relativeOf(system: string, rounds: Measurement[][]): Relative {
  const pairs = rounds.map((round) => ({
    own: round.find((one) => one.system === system),
    relay: round.find((one) => one.role === 'relay'),
  }))
  const middle = (compare: (own: Measurement, relay: Measurement) => number) =>
    median(pairs.map(({ own, relay }) => (own && relay ? compare(own, relay) : Number.NaN)))
  return {
    cpu: middle((own, relay) => own.cpuMsPerCallSecond / relay.cpuMsPerCallSecond),
    callerToModelP99: middle((own, relay) => own.report.callerToModel.p99Ms / relay.report.callerToModel.p99Ms),
    firstDeltaP99: middle((own, relay) => own.report.firstDelta.p99Ms / relay.report.firstDelta.p99Ms),
    clearMs: middle((own, relay) => own.report.bargeInToClear.p50Ms - relay.report.bargeInToClear.p50Ms),
  }
}

function otherFaults({ report: { up, down, faults } }: Measurement): number {
  return up.reordered + down.reordered + faults.damaged + faults.refused + faults.clearsMissing + faults.callsDropped
}

function middleDelays(delays: Delays[]): Delays {
  const middle = (value: (one: Delays) => number) => median(delays.map(value))
  return {
    count: middle((one) => one.count),
    p50Ms: middle((one) => one.p50Ms),
    p99Ms: middle((one) => one.p99Ms),
    maxMs: middle((one) => one.maxMs),
  }
}

function middleThreads(own: Measurement[]): ThreadShare[] {
  const shares = Map.groupBy(
    own.flatMap((one) => one.threads),
    (thread) => thread.name,
  )
  return [...shares]
    .map(([name, of]) => ({ name, cpuMsPerCallSecond: median(of.map((share) => share.cpuMsPerCallSecond)) }))
    .toSorted((a, b) => b.cpuMsPerCallSecond - a.cpuMsPerCallSecond)
}
