/** `npm run soak`: whether the service, after many calls, holds on to no more than before them. */
import { constants } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { type DatabaseServer, startDatabaseServer } from './database.ts'
import { type Holdings, handleChanges, holdingsOf } from './holdings.ts'
import { LoadProcess } from './load-process.ts'
import { type RunningParley, startParley } from './parley.ts'
import { allowedCores } from './proc.ts'
import { parseSoakOptions, SOAK_USAGE, type SoakOptions } from './soak-options.ts'
import { describeSoak, type SoakFigures, soakFaults } from './soak-verdict.ts'

const DIAGNOSTICS = new URL('./diagnostics.ts', import.meta.url).href
const WARM_UP_SECONDS = 30
const CHURN_PER_SECOND = 1
const RAMP_PER_SECOND = 50
/** Idle connections to the database go after some seconds, those from the carrier when the service closes them, after 125; then nothing moves any more. */
const REST_STABLE_SECONDS = 130
const REST_SECONDS_MAX = 300

async function main(options: SoakOptions): Promise<number> {
  const signal = abortOnSignals()
  const [loadCore = 0, serviceCore = loadCore] = allowedCores()
  const place = { isRealtime: false, signal }
  let database: DatabaseServer | undefined
  let load: LoadProcess | undefined
  let service: RunningParley | undefined
  try {
    if (!options.isEmbedded) database = await startDatabaseServer(signal, false)
    load = await LoadProcess.start({ ...place, cores: [loadCore] })
    const surroundings = { ...load.providers, certificate: undefined, profileFolder: undefined }
    const subject = { name: 'parley', databaseUrl: database?.url, minSpeechMs: 0 }
    const nodeArgs = ['--import', DIAGNOSTICS]
    service = await startParley(subject, surroundings, { place: { ...place, cores: [serviceCore] }, nodeArgs })
    return await soak(options, load, service)
  } finally {
    await service?.stop()
    await load?.stop()
    await database?.stop()
  }
}

async function soak({ calls, minutes }: SoakOptions, load: LoadProcess, service: RunningParley): Promise<number> {
  const { child, entrance } = service
  const ask = () => child.before(holdingsOf(child.process))
  const plan = { entrance, calls, rampPerSecond: RAMP_PER_SECOND, churnPerSecond: CHURN_PER_SECOND, callSeconds: 0 }
  console.log(`${calls} calls, ${CHURN_PER_SECOND} ending and starting each second; warm-up of ${WARM_UP_SECONDS} s`)
  await load.run({ ...plan, warmupSeconds: 0, seconds: WARM_UP_SECONDS }, () => {})
  const restBefore = await atRest(ask)

  console.log(`${minutes} minutes begin`)
  const loaded: Promise<Holdings>[] = []
  // Until every call has been replaced once, those that are up grow older, and hold more.
  const warmupSeconds = calls / CHURN_PER_SECOND + WARM_UP_SECONDS
  const report = await load.run({ ...plan, warmupSeconds, seconds: minutes * 60 }, () => loaded.push(ask()))
  const [loadedBefore, loadedAfter] = await Promise.all(loaded)
  if (loadedBefore === undefined || loadedAfter === undefined) throw new Error('the load had no window')

  const figures: SoakFigures = { restBefore, loadedBefore, loadedAfter, restAfter: await atRest(ask, restBefore) }
  const faults = soakFaults(figures, report)
  console.log([`${report.callsOpened} calls`, ...describeSoak(figures), ...report.dropReasons].join('\n'))
  console.log(faults.length === 0 ? 'ok' : faults.map((fault) => `FAIL: ${fault}`).join('\n'))
  return faults.length === 0 ? 0 : 1
}

/** What is held once it has stayed the same for so long, or as soon as it is what it was `before`. After 5 minutes: as it is. */
async function atRest(ask: () => Promise<Holdings>, before?: Holdings): Promise<Holdings> {
  let last = await ask()
  let stableSeconds = 0
  for (let seconds = 0; seconds < REST_SECONDS_MAX; seconds++) {
    const isAsBefore = before !== undefined && isSame(before, last)
    if (isAsBefore || (before === undefined && stableSeconds >= REST_STABLE_SECONDS)) break
    await wait(1_000)
    const now = await ask()
    stableSeconds = isSame(last, now) ? stableSeconds + 1 : 0
    last = now
  }
  return last
}

function isSame(before: Holdings, after: Holdings): boolean {
  return Object.keys(handleChanges(before, after)).length === 0
}

function abortOnSignals(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      process.exitCode = 128 + constants.signals[signal]
      stop.abort()
    })
  }
  return stop.signal
}

try {
  const options = parseSoakOptions(process.argv.slice(2))
  if (options.help) console.log(SOAK_USAGE)
  else if (process.platform === 'linux') process.exitCode = await main(options)
  else throw new Error('The soak pins processes to cores: it needs Linux.')
} catch (error) {
  // After a signal, whatever broke broke because the children were killed.
  if (process.exitCode === undefined) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
