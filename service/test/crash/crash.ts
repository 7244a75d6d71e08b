/** `npm run test:crash`: what a kill at each of the named moments costs. */
import { constants } from 'node:os'
import { makeRandom } from '../../../simulator/src/carrier/random.ts'
import { killPrograms } from '../harness/program.ts'
import { startTestServer, type TestServer } from '../kill/test-database.ts'
import { CRASH_USAGE, type CrashOptions, parseCrashOptions } from './crash-options.ts'
import { type CrashResult, crash, crashStart } from './crash-round.ts'
import { type Stage, startStage } from './crash-stage.ts'
import { crashFaults, crashLine, totalLine } from './crash-verdict.ts'
import { type CrashPoint, MISSING_POINTS, POINTS } from './points.ts'

/** A moment that comes often is not always met at its first time. */
const TIMES_MAX = 3
const RANDOM_MS_MIN = 500
const RANDOM_MS_SPAN = 6_000

type Random = () => number
type Run = { server: TestServer; stage: Stage; options: CrashOptions; random: Random; canDial: boolean }

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

async function runPoint({ server, stage, options, random }: Run, point: CrashPoint): Promise<CrashResult[]> {
  const results: CrashResult[] = []
  for (let round = 0; round < options.rounds; round++) {
    const times = 1 + Math.floor(random() * TIMES_MAX)
    const settleMs = options.settleSeconds * 1_000
    const isStart = point.does === 'start'
    results.push(
      await (isStart ? crashStart(server, stage, { point, times }) : crash(stage, { point, times }, settleMs)),
    )
  }
  return results
}

async function runRandom({ stage, options, random, canDial }: Run): Promise<CrashResult[]> {
  const kinds = ['talk' as const, 'admin' as const, ...(canDial ? ['dial' as const] : [])]
  const results: CrashResult[] = []
  for (let round = 0; round < options.random; round++) {
    const afterMs = RANDOM_MS_MIN + random() * RANDOM_MS_SPAN
    results.push(await crash(stage, { afterMs, kinds }, options.settleSeconds * 1_000))
  }
  return results
}

/** Whether the service places calls for tenants: a route that is not there is answered with 404 before anything else. */
async function canDial({ node, token }: Stage): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` }
  const { status } = await fetch(`${node.address}/api/v1/make-call`, { method: 'POST', headers })
  return status !== 404
}

async function runAll(run: Run): Promise<CrashResult[]> {
  const all: CrashResult[] = []
  const tell = (name: string, results: CrashResult[]): void => {
    print(crashLine(name, results))
    for (const fault of crashFaults(results)) print(`  FAIL: ${fault}`)
    all.push(...results)
  }
  for (const point of POINTS.filter(({ name }) => run.options.points.includes(name))) {
    if (point.does === 'dial' && !run.canDial) print(`${point.name}  not yet: make-call`)
    else tell(point.name, await runPoint(run, point))
  }
  if (run.options.random > 0) tell('at random', await runRandom(run))
  return all
}

async function withStage(server: TestServer, options: CrashOptions): Promise<CrashResult[]> {
  const stage = await startStage(server, options.seed)
  try {
    const random = makeRandom(options.seed)
    return await runAll({ server, stage, options, random, canDial: await canDial(stage) })
  } finally {
    await stage.close()
  }
}

async function main(): Promise<number> {
  const options = parseCrashOptions(process.argv.slice(2))
  if (options.help) {
    print(CRASH_USAGE)
    return 0
  }
  const server = await startTestServer(abortOnSignals(), options.isRealtime)
  try {
    const results = await withStage(server, options)
    const missing = MISSING_POINTS.filter(({ name }) => options.points.includes(name))
    for (const { name, part } of missing) print(`${name}  not yet: ${part}`)
    print(totalLine(results))
    return crashFaults(results).length === 0 ? 0 : 1
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
