/** `npm run bench:api`: what lists, incoming calls and deliveries cost, each beside what it is measured by. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { constants, cpus } from 'node:os'
import { resolve } from 'node:path'
import { NICENESS, prefer } from '../child.ts'
import { startDatabaseServer } from '../database.ts'
import { fillBlock } from '../docs-block.ts'
import { ADMIN_API_KEY, startParley } from '../parley.ts'
import { allowedCores } from '../proc.ts'
import { profiling } from '../systems.ts'
import { measureAnalytics } from './analytics.ts'
import { startBare } from './bare-process.ts'
import { type BenchDatabase, makeDatabase } from './database.ts'
import { fillRecords } from './fill.ts'
import { type ApiFigures, apiVoidReasons, findingsOf, renderFindings } from './findings.ts'
import { type ListGround, measureFilters, measureLists } from './lists.ts'
import { API_USAGE, type ApiOptions, parseApiOptions } from './options.ts'
import { measureOutbox, NO_PROVIDERS } from './outbox.ts'
import { type ApiPlan, type Part, zipfShares } from './plan.ts'
import { type Ground, measureRings } from './rings.ts'
import { makeToken, putTenant, tenantIds } from './tenants.ts'

const DOCS = new URL('../../../docs/performance.md', import.meta.url)
const EXIT = { failed: 1, void: 2 } as const
/** Whose lists are looked at: the tenant with the most rows, and one in the middle. */
const LOOKED_AT = [0, 19]

async function main(options: ApiOptions): Promise<number> {
  if (options.help) {
    console.log(API_USAGE)
    return 0
  }
  const [loadCore, systemCore] = process.platform === 'linux' ? allowedCores() : []
  if (loadCore === undefined || systemCore === undefined) {
    throw new Error('The benchmark pins processes to cores and reads /proc: it needs Linux and two cores.')
  }
  // The runner sits with the load, so that nothing of ours runs on the core that is measured.
  execFileSync('taskset', ['-acp', String(loadCore), String(process.pid)], { stdio: 'ignore' })
  const profileFolder = options.profileFolder === undefined ? undefined : userPath(options.profileFolder)
  if (profileFolder !== undefined) mkdirSync(profileFolder, { recursive: true })
  const { signal } = abortOnSignals()
  const place = { loadCore, systemCore, isRealtime: false, isRingingRealtime: options.realtime, signal, profileFolder }
  return tell(await measureAll(place, options), options)
}

async function measureAll(
  place: Omit<Ground, 'databaseUrl' | 'setDatabaseRealtime'>,
  { plan, parts }: ApiOptions,
): Promise<ApiFigures> {
  const server = await startDatabaseServer(place.signal, false)
  // Behind the database, which inherits it.
  prefer(process.pid, NICENESS.yardstick)
  try {
    const database = await makeDatabase(server.url)
    try {
      return await measureParts(
        { ...place, databaseUrl: database.url, setDatabaseRealtime: server.setRealtime },
        { database, plan, parts },
      )
    } finally {
      // After a signal the server may be gone before.
      await database.drop().catch(() => {})
    }
  } finally {
    await server.stop()
  }
}

type Bench = { database: BenchDatabase; plan: ApiPlan; parts: readonly Part[] }

async function measureParts(ground: Ground, { database, plan, parts }: Bench): Promise<ApiFigures> {
  const needsRecords = parts.some((part) => part !== 'analytics')
  const figures = needsRecords ? await withRecords(ground, { database, plan, parts }) : {}
  if (parts.includes('rings')) {
    say(`${plan.calls} calls talk, ${plan.ringsPerSecond} more ring each second`)
    figures.rings = await measureRings(ground, plan)
  }
  if (parts.includes('outbox')) {
    say(`${plan.outboxRows} deliveries fall due, twice`)
    figures.outbox = await measureOutbox(ground, database.client, plan)
  }
  if (parts.includes('analytics')) {
    say(`${plan.analyticsCalls} calls of one tenant are written and counted`)
    figures.analytics = await measureAnalytics(ground, database.client, plan)
  }
  return figures
}

/** Makes tenants and their records with a service that goes again, and looks at lists before it does. */
async function withRecords(ground: Ground, { database, plan, parts }: Bench): Promise<ApiFigures> {
  const surroundings = { ...NO_PROVIDERS, certificate: undefined, profileFolder: ground.profileFolder }
  const place = { ...ground, cores: [ground.systemCore] }
  const nodeArgs = profiling(surroundings, 'parley-lists')
  const how = { name: 'parley', databaseUrl: ground.databaseUrl, minSpeechMs: undefined }
  const service = await startParley(how, surroundings, { place, nodeArgs })
  try {
    const admin = { address: service.address, adminKey: ADMIN_API_KEY }
    const ids = tenantIds(plan.tenants)
    for (const tenantId of ids) await putTenant(admin, tenantId)
    const shares = zipfShares(plan.rows, plan.tenants).map((rows, i) => ({ tenantId: ids[i] ?? '', rows }))
    say(`${plan.rows} call logs of ${plan.tenants} tenants are written`)
    await fillRecords(database.client, shares)
    if (!parts.includes('lists') && !parts.includes('filters')) return {}
    const lookedAt = shares.filter((_, i) => LOOKED_AT.includes(i))
    const tenants = await Promise.all(
      lookedAt.map(async (share) => ({ ...share, token: await makeToken(admin, share.tenantId) })),
    )
    const bare = await startBare(ground.databaseUrl, place)
    try {
      const lists = { service: { pid: service.child.pid, address: service.address }, bare, tenants }
      return await lookAt(lists, plan, parts)
    } finally {
      await bare.stop()
    }
  } finally {
    await service.stop()
  }
}

async function lookAt(ground: ListGround, plan: ApiPlan, parts: readonly Part[]): Promise<ApiFigures> {
  const figures: ApiFigures = {}
  if (parts.includes('lists')) {
    say('pages of lists')
    figures.lists = await measureLists(ground, plan)
  }
  if (parts.includes('filters')) {
    say('lists under filters')
    figures.filters = await measureFilters(ground, plan)
  }
  return figures
}

function tell(figures: ApiFigures, options: ApiOptions): number {
  const { plan, parts, check, machine: named, jsonFile, writeDocs } = options
  const machine = `${named ?? `${cpus().length} cores, ${process.arch}`}, Node ${process.versions.node}`
  const findings = findingsOf(figures, parts)
  const voidBecause = apiVoidReasons(figures)
  const hasRecords = parts.some((part) => part !== 'analytics')
  const among = hasRecords ? `${plan.rows} call logs of ${plan.tenants} tenants.\n\n` : ''
  const text = among + renderFindings(findings)
  console.log(`\n${text}`)
  for (const failure of figures.rings?.failures ?? []) console.log(`incoming-call: ${failure}`)
  for (const reason of voidBecause) console.log(`VOID: ${reason}.`)
  const isMissed = findings.some(({ isMet }) => !isMet)
  if (jsonFile !== undefined) {
    const all = { options, machine, voidBecause, findings, figures }
    writeFileSync(userPath(jsonFile), `${JSON.stringify(all, undefined, 2)}\n`)
  }
  if (voidBecause.length > 0) {
    console.log('This run is VOID: its numbers must not be used.')
    return EXIT.void
  }
  if (writeDocs) writeFileSync(DOCS, filled(`Measured on ${machine}. ${text}`))
  return check && isMissed ? EXIT.failed : 0
}

function filled(content: string): string {
  return fillBlock(readFileSync(DOCS, 'utf8'), 'bench:api', content)
}

function abortOnSignals(): AbortController {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      process.exitCode = 128 + constants.signals[signal]
      stop.abort()
    })
  }
  return stop
}

function say(line: string): void {
  console.error(line)
}

/** npm runs scripts in the package's folder; a relative path is meant from where the user stands. */
function userPath(path: string): string {
  const { INIT_CWD: userFolder = process.cwd() } = process.env
  return resolve(userFolder, path)
}

try {
  process.exitCode = await main(parseApiOptions(process.argv.slice(2)))
} catch (error) {
  // After a signal, whatever broke broke because the children were killed.
  if (process.exitCode === undefined) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = EXIT.failed
  }
}
