// How long a sweep takes to claim a task among a million; `CLAIM_USAGE` says more.
import { constants } from 'node:os'
import type { TenantId } from '../../src/kernel/ids.ts'
import { listDispatchTenantsAcrossTenants } from '../../src/operators/sweeps/dispatch-sweep-store.ts'
import { listFollowUpTenantsAcrossTenants } from '../../src/operators/sweeps/follow-up-store.ts'
import { listOverdueTasks, listOverdueTenantsAcrossTenants } from '../../src/operators/sweeps/sla-sweep-store.ts'
import { listLiveQueues } from '../../src/operators/sweeps/swept-queue-store.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import type { Db } from '../../src/platform/db/schema.ts'
import { openServer } from '../../src/platform/db/server.ts'
import { readCommand } from '../harness/command-line.ts'
import { startTestServer, type TestServer } from '../kill/test-database.ts'
import { CLAIMS } from './claims.ts'
import { makeCrowd } from './crowd.ts'
import { CLAIM_USAGE, type ClaimOptions, parseClaimOptions } from './options.ts'

const MAX_MS = 50
/** Of each kind, before the times count. */
const WARM_UP = 5
const MIGRATIONS = new URL('../../migrations/', import.meta.url)

/** What a sweep asks once: no claim, and shown beside them. */
const LISTS: Record<string, (db: Db, now: Date) => Promise<unknown[]>> = {
  'tenants: overdue': (db, now) => listOverdueTenantsAcrossTenants(db, now, false),
  'tenants: dispatch': listDispatchTenantsAcrossTenants,
  'tenants: snoozed': (db, now) => listFollowUpTenantsAcrossTenants(db, 'snoozed', now),
  'tenants: remind': (db, now) => listFollowUpTenantsAcrossTenants(db, 'claimed', now),
  'tenants: escalate': (db, now) => listFollowUpTenantsAcrossTenants(db, 'late', now),
  'alerted before': async (db, now) => {
    const tenantId = 't-1' as TenantId
    const cuts = (await listLiveQueues(db, tenantId)).map((queueKey) => ({ queueKey, before: now }))
    return listOverdueTasks(db, tenantId, { limit: 100, except: [], cuts, alerted: true })
  },
}

type Times = { p50: number; p99: number; max: number }

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function timed(rounds: number, task: (round: number) => Promise<unknown>): Promise<Times> {
  const times: number[] = []
  for (let round = -WARM_UP; round < rounds; round += 1) {
    const startMs = performance.now()
    await task(round)
    if (round >= 0) times.push(performance.now() - startMs)
  }
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.ceil(times.length * share) - 1] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99), max: at(1) }
}

/** Every second claim is of the tenant with the most tasks. */
async function measure(db: Db, { tenants, rounds }: ClaimOptions): Promise<string[]> {
  const faults: string[] = []
  const tenantOf = (round: number) => `t-${round % 2 === 0 ? 1 : 2 + (Math.abs(round) % (tenants - 1))}` as TenantId
  const line = (name: string, { p50, p99, max }: Times) =>
    print(
      `${name.padEnd(22)} p50 ${p50.toFixed(1).padStart(7)} ms   p99 ${p99.toFixed(1).padStart(7)} ms   max ${max.toFixed(1).padStart(7)} ms`,
    )
  for (const [name, claim] of Object.entries(CLAIMS)) {
    let claimed = 0
    const times = await timed(rounds, async (round) => {
      if (await claim(db, tenantOf(round), new Date())) claimed += 1
    })
    line(name, times)
    if (!(times.p99 <= MAX_MS)) faults.push(`${name}: one of a hundred takes ${times.p99.toFixed(1)} ms, not ${MAX_MS}`)
    if (claimed < rounds) faults.push(`${name}: there was a task in ${claimed} of ${rounds + WARM_UP} rounds`)
  }
  for (const [name, list] of Object.entries(LISTS))
    line(name, await timed(Math.min(rounds, 20), () => list(db, new Date())))
  return faults
}

async function run(options: ClaimOptions): Promise<number> {
  const stopping = new AbortController()
  let started: TestServer | null = null
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      process.exitCode = 128 + constants.signals[signal]
      stopping.abort()
      void (started?.stop() ?? Promise.resolve()).finally(() => process.exit())
    })
  }
  const server = await startTestServer(stopping.signal, options.isRealtime)
  started = server
  const database = openServer({
    url: await server.makeDatabase(),
    applicationName: 'sweep claims',
    statementTimeoutMs: 0,
    onError: () => undefined,
  })
  try {
    await migrate(database.db, MIGRATIONS)
    await makeCrowd(database.db, options)
    print(`${options.tasks} tasks of ${options.tenants} tenants`)
    const faults = await measure(database.db, options)
    for (const fault of faults) print(`FAIL: ${fault}`)
    if (faults.length === 0) print(`ok: each claim within ${MAX_MS} ms`)
    return faults.length === 0 ? 0 : 1
  } finally {
    await database.close()
    await server.stop()
  }
}

try {
  const options = readCommand(CLAIM_USAGE, parseClaimOptions)
  if (options) process.exitCode = await run(options)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  process.exitCode = 1
}
