import { until } from '../harness/wait.ts'
import { monotonicMs } from '../kill/monotonic.ts'
import { startNode } from '../kill/service-nodes.ts'
import type { TestServer } from '../kill/test-database.ts'
import { connectTo } from '../kill/test-database.ts'
import { check, type Damage } from './crash-check.ts'
import { CrashLedger } from './crash-ledger.ts'
import type { Stage } from './crash-stage.ts'
import { KillTrap } from './moments.ts'
import { startPgProxy } from './pg-proxy.ts'
import type { CrashPoint, Workload } from './points.ts'
import { work } from './workloads.ts'

/** What one kill came to. `startMs`: how long the service took to start again; `told`: how much clients had been told. */
export type CrashResult = Damage & { isReached: boolean; startMs: number; told: number }

/** A kill at a moment, the n-th one of its kind, or after a time. */
export type Kill = { point: CrashPoint; times: number } | { afterMs: number; kinds: Exclude<Workload, 'start'>[] }

const REACH_MS = 60_000

/** Lets clients work until the kill, starts the service again, and looks at what is left. */
export async function crash(stage: Stage, kill: Kill, settleMs: number): Promise<CrashResult> {
  const ledger = new CrashLedger()
  const over = { isIt: false }
  const end = (): void => {
    over.isIt = true
    process.kill(stage.node.program.pid, 'SIGKILL')
  }
  const before = await nameBefore(stage)
  Object.assign(ledger.names, { tried: before, acknowledged: before })
  const sprung = arm(stage, kill, end)
  const working = work(kindsOf(kill), stage, ledger, () => over.isIt)
  const isReached = await Promise.race([sprung, failed(working)])
  if (!isReached) end()
  await stage.carrier.stopRinging()
  await Promise.all([working, stage.node.program.end()])
  const startMs = await stage.restart()
  for (const { sid, streams } of await stage.carrier.hangUp()) if (streams.length > 0) ledger.streams.add(sid)
  return { ...(await check(stage, ledger, settleMs)), isReached, startMs, told: ledger.told }
}

/** Never resolves; rejects when the work could not be done. */
function failed(working: Promise<void>): Promise<never> {
  return new Promise((_resolve, reject) => void working.catch(reject))
}

function kindsOf(kill: Kill): Exclude<Workload, 'start'>[] {
  if ('afterMs' in kill) return kill.kinds
  return kill.point.does === 'start' ? [] : [kill.point.does]
}

/** Resolves at the kill; with false when it did not come in time. */
async function arm({ trap }: Stage, kill: Kill, end: () => void): Promise<boolean> {
  const sprung = { is: false }
  const dueMs = monotonicMs() + ('afterMs' in kill ? kill.afterMs : Number.POSITIVE_INFINITY)
  if ('point' in kill) {
    void trap.arm(kill.point.is, { times: kill.times, kill: end }).then(() => {
      sprung.is = true
    })
  }
  const isOver = () => {
    if (monotonicMs() >= dueMs && !sprung.is) {
      sprung.is = true
      end()
    }
    return sprung.is
  }
  const reached = await until(isOver, { what: 'the kill', timeoutMs: REACH_MS }).catch(() => false)
  trap.disarm()
  return reached
}

async function nameBefore({ database }: Stage): Promise<number> {
  const { rows } = await database.query<{ name: string | null }>("select document->>'name' as name from tenants")
  return Number(rows[0]?.name ?? 0)
}

/** Kills a start in the middle of its migrations, on a new database, and starts again. */
export async function crashStart(server: TestServer, stage: Stage, kill: { point: CrashPoint; times: number }) {
  const trap = new KillTrap()
  const databaseUrl = await server.makeDatabase()
  const proxy = await startPgProxy(databaseUrl, trap)
  const installation = { ...stage.installation, databaseUrl: proxy.url }
  const killed = { pid: 0 }
  const own = (pid: number): void => {
    killed.pid = pid
    stage.installation.own(pid)
  }
  const sprung = trap.arm(kill.point.is, { times: kill.times, kill: () => process.kill(killed.pid, 'SIGKILL') })
  const first = await startNode({ ...installation, own }).catch(() => null)
  const isReached = first === null ? await sprung.then(() => true) : false
  const startedMs = performance.now()
  const second = await startNode(installation)
  const startMs = performance.now() - startedMs
  const lost = await missingMigrations(databaseUrl)
  for (const node of [first, second]) await node?.program.end('SIGKILL')
  await proxy.close()
  return { lost, doubledDials: [], stuck: [], leases: [], isReached, startMs, told: 0 } satisfies CrashResult
}

/** What every start applies has to be there once. */
async function missingMigrations(url: string): Promise<string[]> {
  const database = await connectTo(url)
  try {
    const { rows } = await database.query(
      "select to_regclass('tenants') is null or to_regclass('call_logs') is null as is",
    )
    return rows[0]?.is ? ['a migration'] : []
  } finally {
    await database.end()
  }
}
