import { type Installation, startNode } from '../kill/service-nodes.ts'
import { connectTo } from '../kill/test-database.ts'
import type { CrashResult } from './crash-round.ts'
import type { Stage, StageServer } from './crash-stage.ts'
import { KillTrap } from './moments.ts'
import { startPgProxy } from './pg-proxy.ts'
import type { CrashPoint } from './points.ts'

/** Kills a start in the middle of its migrations, on a new database, and starts again. */
export async function crashStart(
  server: StageServer,
  stage: Stage,
  { point, times }: { point: CrashPoint; times: number },
): Promise<CrashResult> {
  const trap = new KillTrap()
  const databaseUrl = await server.makeDatabase()
  const proxy = await startPgProxy(databaseUrl, trap)
  const { dataDir: _dataDir, ...shared } = stage.installation
  const installation: Installation = { ...shared, databaseUrl: proxy.url }
  let pid = 0
  const own = (started: number): void => {
    pid = started
    shared.own(started)
  }
  void trap.arm(point.is, { times, kill: () => process.kill(pid, 'SIGKILL') })
  const first = await startNode({ ...installation, own }).catch(() => null)
  const startedMs = performance.now()
  const second = await startNode(installation)
  const startMs = performance.now() - startedMs
  const lost = await missingMigrations(databaseUrl)
  for (const node of [first, second]) await node?.program.end('SIGKILL')
  await proxy.close()
  return {
    lost,
    doubledDials: [],
    stuck: [],
    leases: [],
    debts: [],
    failures: [],
    isReached: first === null,
    startMs,
    told: 0,
    repeats: 0,
  }
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
