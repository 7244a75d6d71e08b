/** `npm run test:crash`: what a kill at each of the named moments costs. */
import { abortOnSignals } from '../harness/abort-on-signals.ts'
import { readCommand } from '../harness/command-line.ts'
import { killPrograms } from '../harness/program.ts'
import { startTestServer, type TestServer } from '../kill/test-database.ts'
import { AT_RANDOM, collectDebts, type Doing, doJob, jobsOf } from './crash-jobs.ts'
import { CRASH_USAGE, type CrashOptions, parseCrashOptions } from './crash-options.ts'
import type { CrashResult } from './crash-round.ts'
import { startStage } from './crash-stage.ts'
import { crashFaults, crashLine, crashTable } from './crash-verdict.ts'
import { POINTS } from './points.ts'

const PROGRESS_MS = 30_000

type Results = Map<string, CrashResult[]>

function print(line: string): void {
  process.stdout.write(`${line}\n`)
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
      const doing: Doing = { server, stage, options, each: () => void done++ }
      const own: CrashResult[] = []
      for (let job = jobs.shift(); job; job = jobs.shift()) {
        const found = await doJob(doing, job)
        results.set(job.name, [...(results.get(job.name) ?? []), ...found])
        own.push(...found)
        tell(job.name, found, startedMs)
      }
      await collectDebts(doing, own)
    } finally {
      await stage.close()
    }
  }
  const stages = Math.min(options.stages, jobs.length)
  await Promise.all(Array.from({ length: stages }, (_, index) => workOn(index))).finally(() => clearInterval(progress))
  return results
}

function tell(name: string, results: CrashResult[], startedMs: number): void {
  print(`${minutes(startedMs)}  ${name}: ${crashLine(results)}`)
  for (const fault of crashFaults(results)) print(`  FAIL: ${fault}`)
}

/** Returns whether all is as it should be. */
function printTable(results: Results, startedMs: number): boolean {
  const rows = [...POINTS.map((point) => point.name), AT_RANDOM].flatMap((name) => {
    const found = results.get(name)
    return found ? [[name, found] as const] : []
  })
  print(['', ...crashTable(rows)].join('\n'))
  const faults = rows.flatMap(([name, found]) => crashFaults(found).map((fault) => `FAIL: ${name}: ${fault}`))
  for (const fault of faults) print(fault)
  print(`in ${minutes(startedMs)}: ${crashLine([...results.values()].flat())}`)
  return faults.length === 0
}

async function main(options: CrashOptions): Promise<number> {
  const startedMs = performance.now()
  const server = await startTestServer(abortOnSignals(), options.isRealtime)
  try {
    await compile(server)
    const results = await runAll(server, options)
    return printTable(results, startedMs) ? 0 : 1
  } finally {
    await killPrograms()
    await server.stop()
  }
}

try {
  const options = readCommand(CRASH_USAGE, parseCrashOptions)
  if (options) process.exitCode = await main(options)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  process.exitCode = 1
}
