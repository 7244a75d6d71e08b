/** `npm run bench`: what a call costs, measured beside a raw relay in the same run. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { constants, cpus } from 'node:os'
import { resolve } from 'node:path'
import { fillBlock } from './docs-block.ts'
import type { Bed } from './measure.ts'
import { type Options, parseOptions, USAGE } from './options.ts'
import { allowedCores } from './proc.ts'
import { type Repeat, type Round, runAll } from './rounds.ts'
import { summarise } from './summary.ts'
import { SYSTEMS } from './systems.ts'
import { renderQuality, renderTable, renderThreads } from './table.ts'

const DOCS = new URL('../../docs/performance.md', import.meta.url)
const EXIT = { failed: 1, void: 2 } as const

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2))
  if (options.help) {
    console.log(USAGE)
    return 0
  }
  const [loadCore, systemCore] = process.platform === 'linux' ? allowedCores() : []
  if (loadCore === undefined || systemCore === undefined) {
    console.error('The benchmark pins processes to cores and reads /proc: it needs Linux and two cores.')
    return EXIT.failed
  }
  // The runner sits with the load, so that nothing of ours runs on the core that is measured.
  execFileSync('taskset', ['-cp', String(loadCore), String(process.pid)], { stdio: 'ignore' })

  const repeats = await run(options, { loadCore, systemCore })
  const { rows, quality } = summarise(repeats)
  const machine = `${options.machine ?? `${cpus().length} cores, ${process.arch}`}, Node ${process.versions.node}`
  const table = renderTable(rows)
  const notes = renderQuality(quality, rows)
  console.log(`\n${table}\n\n${notes}`)
  if (options.threads) console.log(`\n${renderThreads(rows)}`)

  const isVoid = quality.some((one) => one.voidBecause.length > 0)
  if (isVoid) console.log('\nThis run is VOID: its numbers must not be used.')
  if (options.jsonFile !== undefined) writeJson(options, { machine, isVoid, rows, quality, repeats })
  if (options.writeDocs && isVoid) console.log('The docs keep what they had.')
  else if (options.writeDocs) writeDocs(`Measured on ${machine}: ${how(options)}.\n\n${table}\n\n${notes}`)
  return isVoid ? EXIT.void : 0
}

async function run(options: Options, cores: { loadCore: number; systemCore: number }): Promise<Repeat[]> {
  const systems = SYSTEMS.filter((system) => !options.relayOnly || system.role !== 'subject')
  const stop = new AbortController()
  const onSignal = (signal: NodeJS.Signals) => {
    process.exitCode = 128 + constants.signals[signal]
    stop.abort()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
  const { seconds, warmupSeconds, rampPerSecond, churnPerSecond } = options
  const plan = { seconds, warmupSeconds, rampPerSecond, churnPerSecond }
  const bed: Bed = { ...cores, isRealtime: options.realtime, signal: stop.signal, plan }
  console.error(`${systems.map((system) => system.name).join(', ')}: ${how(options)}`)
  return runAll({ systems, calls: options.calls, repeats: options.repeats, bed, onRound: tellRound })
}

function how(options: Options): string {
  const churn = options.churnPerSecond > 0 ? `, ${options.churnPerSecond} calls/s ending and starting` : ''
  const priority = options.realtime ? ', at real-time priority' : ''
  return `median of ${options.repeats} rounds of ${options.seconds} s${churn}${priority}`
}

function tellRound(calls: number, repeat: number, round: Round): void {
  const costs = round.measurements.map((one) => `${one.system} ${one.cpuMsPerCallSecond.toFixed(2)}`)
  const reasons = round.voidBecause.map((reason) => `; void: ${reason}`)
  console.error(`${calls} calls, round ${repeat}: ${costs.join(', ')} ms per call-second${reasons.join('')}`)
}

function writeJson(options: Options, result: object): void {
  // npm runs scripts in the package's folder; a relative path is meant from where the user stands.
  const { INIT_CWD: userFolder = process.cwd() } = process.env
  writeFileSync(
    resolve(userFolder, options.jsonFile ?? ''),
    `${JSON.stringify({ options, ...result }, undefined, 2)}\n`,
  )
}

function writeDocs(content: string): void {
  writeFileSync(DOCS, fillBlock(readFileSync(DOCS, 'utf8'), 'bench:relay', content))
}

try {
  process.exitCode = await main()
} catch (error) {
  // After a signal, whatever broke broke because the children were killed.
  if (process.exitCode === undefined) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = EXIT.failed
  }
}
