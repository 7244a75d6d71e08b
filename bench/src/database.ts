import { execFileSync } from 'node:child_process'
import type { Need } from '../../scripts/needs/need.ts'
import { startPostgres } from '../../scripts/needs/postgres.ts'
import { makeRunFolder, sweepAbandonedRuns } from '../../scripts/needs/run-folder.ts'
import { REALTIME_PRIORITY } from './child.ts'

/** A PostgreSQL server of this run's own. `setRealtime`: whether it is at real-time priority from now on. */
export type DatabaseServer = { url: string; setRealtime(isRealtime: boolean): void; stop(): Promise<void> }

const URL_VARIABLE = 'PARLEY_TEST_DATABASE_URL'

/**
 * Starts one as the tests do, on the cores of this process, at real-time priority where the load has it: else a busy
 * machine would hold up the set-up of calls. @throws Error with one sentence when there is none to start.
 */
export async function startDatabaseServer(signal: AbortSignal, isRealtime: boolean): Promise<DatabaseServer> {
  sweepAbandonedRuns()
  const folder = makeRunFolder()
  let server = Number.NaN
  const ownProcess = (pid: number) => {
    server = pid
    // Before it makes children, which inherit it.
    if (isRealtime)
      execFileSync('chrt', ['-a', '-r', '-p', REALTIME_PRIORITY.measured, String(pid)], { stdio: 'ignore' })
    folder.ownProcess(pid)
  }
  let need: Need
  try {
    need = await startPostgres({ folder: { ...folder, ownProcess }, signal })
  } catch (error) {
    folder.remove()
    throw error
  }
  const url = need.env[URL_VARIABLE] ?? process.env[URL_VARIABLE] ?? ''
  return {
    url,
    setRealtime(isReal) {
      const policy = isReal ? ['-r', '-p', REALTIME_PRIORITY.measured] : ['-o', '-p', '0']
      // Those whom it makes from now on inherit it.
      for (const pid of [server, ...childrenOf(server)])
        execFileSync('chrt', [...policy, String(pid)], { stdio: 'ignore' })
    },
    stop: () => need.stop().finally(() => folder.remove()),
  }
}

function childrenOf(pid: number): number[] {
  return execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(Number)
}
