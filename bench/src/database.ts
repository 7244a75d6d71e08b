import { execFileSync } from 'node:child_process'
import type { Need } from '../../scripts/needs/need.ts'
import { startPostgres } from '../../scripts/needs/postgres.ts'
import { makeRunFolder, sweepAbandonedRuns } from '../../scripts/needs/run-folder.ts'
import { REALTIME_PRIORITY } from './child.ts'

/** A PostgreSQL server of this run's own. */
export type DatabaseServer = { url: string; stop(): Promise<void> }

const URL_VARIABLE = 'PARLEY_TEST_DATABASE_URL'

/**
 * Starts one as the tests do, on the cores of this process, at real-time priority where the load has it: else a busy
 * machine would hold up the set-up of calls. @throws Error with one sentence when there is none to start.
 */
export async function startDatabaseServer(signal: AbortSignal, isRealtime: boolean): Promise<DatabaseServer> {
  sweepAbandonedRuns()
  const folder = makeRunFolder()
  const ownProcess = (pid: number) => {
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
  return { url, stop: () => need.stop().finally(() => folder.remove()) }
}
