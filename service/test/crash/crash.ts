/** `npm run test:crash`: what a kill at each of the named moments costs. */
import { constants } from 'node:os'
import { killPrograms } from '../harness/program.ts'
import { startTestServer, type TestServer } from '../kill/test-database.ts'
import { AT_RANDOM, doJob, jobsOf } from './crash-jobs.ts'
import { CRASH_USAGE, type CrashOptions, parseCrashOptions } from './crash-options.ts'
import type { CrashResult } from './crash-round.ts'
import { startStage } from './crash-stage.ts'
import { crashFaults, crashLine, totalLine } from './crash-verdict.ts'
import { MISSING_POINTS, POINTS } from './points.ts'

const PROGRESS_MS = 30_000

type Results = Map<string, CrashResult[]>

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function abortOnSignals(): AbortSignal {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      process.exitCode = 128 + constants.signals[signal]
      stopping.abort()
      // What waits for a service that is gone would wait for long; what is left is ended by the next run.
      void killPrograms().finally(() => process.exit())
    })
  }
  return stopping.signal
}

function minutes(sinceMs: number): string {
  return `${((performance.now() - sinceMs) / 60_000).toFixed(1)} min`
}

/** What starts later reads what this start has compiled, which is only kept by a process that ends by itself. */
async function compile(server: TestServer): Promise<void> {
  const stage = await startStage(server, 1)
  await stage.node.program.end('SIGTERM')
  await stage.close()
}

/** Several stages side by side, each taking the next job when it is done with one. */
async function runAll(server: TestServer, options: CrashOptions): Promise<Results> {
  const jobs = jobsOf(
    POINTS.filter(({ name }) => options.points.includes(name)),
    options,
  )
  const all = jobs.reduce((sum, { rounds }) => sum + rounds, 0)
  const [results, startedMs]: [Results, number] = [new Map(), performance.now()]
  let done = 0
  const progress = setInterval(() => print(`… ${done} of ${all} kills, ${minutes(startedMs)}`), PROGRESS_MS)
  const workOn = async (index: number): Promise<void> => {
    const stage = await startStage(server, options.seed + index)
    try {
      const each = () => void done++
      for (let job = jobs.shift(); job; job = jobs.shift()) {
        const found = await doJob({ server, stage, options, each }, job)
        results.set(job.name, [...(results.get(job.name) ?? []), ...found])
        tell(job.name, found)
      }
    } finally {
      await stage.close()
    }
  }
  const stages = Math.min(options.stages, jobs.length)
  await Promise.all(Array.from({ length: stages }, (_, index) => workOn(index))).finally(() => clearInterval(progress))
  return results
}

function tell(name: string, results: CrashResult[]): void {
  print(crashLine(name, results))
  for (const fault of crashFaults(results)) print(`  FAIL: ${fault}`)
}

function printTable(results: Results, options: CrashOptions, startedMs: number): void {
  print('')
  for (const name of [...POINTS.map((point) => point.name), AT_RANDOM]) {
    const found = results.get(name)
    if (found) print(crashLine(name, found))
  }
  const missing = MISSING_POINTS.filter(({ name }) => options.points.includes(name))
  for (const { name, part } of missing) print(`${name}  not yet: ${part}`)
  const all = [...results.values()].flat()
  const slowest = Math.max(0, ...all.map(({ startMs }) => startMs)) / 1_000
  print(`${all.length} kills in ${minutes(startedMs)}, start max ${slowest.toFixed(1)} s, ${totalLine(all)}`)
}

async function main(): Promise<number> {
  const options = parseCrashOptions(process.argv.slice(2))
  if (options.help) {
    print(CRASH_USAGE)
    return 0
  }
  const startedMs = performance.now()
  const server = await startTestServer(abortOnSignals(), options.isRealtime)
  try {
    await compile(server)
    const results = await runAll(server, options)
    printTable(results, options, startedMs)
    return crashFaults([...results.values()].flat()).length === 0 ? 0 : 1
  } finally {
    await killPrograms()
    await server.stop()
  }
}

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  process.exitCode = 1
}
