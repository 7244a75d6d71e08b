/** `npm run bench`: what a call costs, measured beside a raw relay in the same run. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { constants, cpus, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { needsDatabase } from './all-systems.ts'
import { makeCertificate } from './certificate.ts'
import { type DatabaseServer, startDatabaseServer } from './database.ts'
import { fillBlock } from './docs-block.ts'
import { type Goal, judge, judgeLatency, renderGoals } from './goals.ts'
import { type Options, parseOptions, USAGE } from './options.ts'
import { allowedCores } from './proc.ts'
import { type Ground, runSuite, type SuiteResult } from './run-suite.ts'
import { askedSuite, CHECK_SUITES, latencySuite, type Suite } from './suites.ts'
import { renderLatency, renderQuality, renderTable, renderThreads } from './table.ts'

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

  const suites = suitesOf(options)
  const results = await runSuites(suites, options, { loadCore, systemCore })
  const goals = options.check ? (options.latency ? judgeLatency(results) : judge(results)) : []
  return tell({ results, goals }, options)
}

function suitesOf(options: Options): readonly Suite[] {
  if (options.latency) return [latencySuite(options)]
  return options.check ? CHECK_SUITES : [askedSuite(options)]
}

async function runSuites(
  suites: readonly Suite[],
  options: Options,
  cores: { loadCore: number; systemCore: number },
): Promise<SuiteResult[]> {
  const { signal } = abortOnSignals()
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  let database: DatabaseServer | undefined
  try {
    const certificate = suites.some(({ tls }) => tls) ? makeCertificate(folder) : undefined
    if (suites.some(needsDatabase)) database = await startDatabaseServer(signal, options.realtime)
    const profileFolder = options.profileFolder === undefined ? undefined : userPath(options.profileFolder)
    if (profileFolder !== undefined) mkdirSync(profileFolder, { recursive: true })
    const surroundings = { certificate, databaseUrl: database?.url, profileFolder }
    const ground: Ground = { ...cores, ...surroundings, isRealtime: options.realtime, signal }
    const results: SuiteResult[] = []
    for (const suite of suites) {
      console.error(`${suite.title}: ${suite.systems.join(', ')}: ${how(suite, options)}`)
      results.push(await runSuite(suite, ground, console.error))
    }
    return results
  } finally {
    await database?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function abortOnSignals(): AbortController {
  const stop = new AbortController()
  const onSignal = (signal: NodeJS.Signals) => {
    process.exitCode = 128 + constants.signals[signal]
    stop.abort()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
  return stop
}

type Outcome = { results: SuiteResult[]; goals: Goal[] }

function tell({ results, goals }: Outcome, options: Options): number {
  const machine = `${options.machine ?? `${cpus().length} cores, ${process.arch}`}, Node ${process.versions.node}`
  const sections = results.map((result) => describe(result, options))
  const isVoid = results.some(({ quality }) => quality.some((one) => one.voidBecause.length > 0))
  const isMissed = goals.some((goal) => !goal.isMet)
  const text = [...sections, ...(goals.length > 0 ? [renderGoals(goals)] : [])].join('\n\n')
  console.log(`\n${text}`)
  if (isVoid) console.log('\nThis run is VOID: its numbers must not be used.')
  if (options.jsonFile !== undefined) {
    writeFileSync(
      userPath(options.jsonFile),
      `${JSON.stringify({ options, machine, isVoid, goals, results }, undefined, 2)}\n`,
    )
  }
  if (options.writeDocs && isVoid) console.log('The docs keep what they had.')
  else if (options.writeDocs) writeDocs(options, `Measured on ${machine}.\n\n${text}`)
  return isVoid ? EXIT.void : isMissed ? EXIT.failed : 0
}

function describe({ suite, rows, quality }: SuiteResult, options: Options): string {
  const threads = options.threads || (options.check && !options.latency) ? [renderThreads(rows)] : []
  const table = options.latency ? renderLatency(rows) : renderTable(rows)
  const parts = [`${suite.title}: ${how(suite, options)}.`, table, renderQuality(quality, rows), ...threads]
  return parts.join('\n\n')
}

function how({ repeats, seconds, churnPerSecond, tls }: Suite, { realtime }: Options): string {
  const churn = churnPerSecond > 0 ? `, ${churnPerSecond} calls/s ending and starting` : ''
  const priority = realtime ? ', at real-time priority' : ''
  return `median of ${repeats} rounds of ${seconds} s${churn}${tls ? ', TLS to the model' : ''}${priority}`
}

/** npm runs scripts in the package's folder; a relative path is meant from where the user stands. */
function userPath(path: string): string {
  const { INIT_CWD: userFolder = process.cwd() } = process.env
  return resolve(userFolder, path)
}

function writeDocs(options: Options, content: string): void {
  const block = options.latency ? 'bench:latency' : options.check ? 'bench:check' : 'bench:relay'
  writeFileSync(DOCS, fillBlock(readFileSync(DOCS, 'utf8'), block, content))
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
