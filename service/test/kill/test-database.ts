import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { startPostgres } from '../../../scripts/needs/postgres.ts'
import { makeRunFolder, type RunFolder, sweepAbandonedRuns } from '../../../scripts/needs/run-folder.ts'

/** A PostgreSQL server of this run's own, and the folder that all of the run lies in. */
export type TestServer = { folder: RunFolder; makeDatabase(): Promise<string>; stop(): Promise<void> }

const URL_VARIABLE = 'PARLEY_TEST_DATABASE_URL'

/**
 * Starts one as the tests do. `isRealtime`: this process and all that are named to the folder run before all others of the
 * machine, as on one of their own: a node that others hold up takes no calls. @throws UnmetNeed with one sentence when there
 * is none to start
 */
export async function startTestServer(signal: AbortSignal, isRealtime: boolean): Promise<TestServer> {
  sweepAbandonedRuns()
  const made = makeRunFolder()
  if (isRealtime) putFirst(process.pid)
  const ownProcess = (pid: number): void => {
    if (isRealtime) putFirst(pid)
    made.ownProcess(pid)
  }
  const folder = { ...made, ownProcess }
  try {
    const need = await startPostgres({ folder, signal })
    const url = need.env[URL_VARIABLE] ?? process.env[URL_VARIABLE] ?? ''
    return { folder, makeDatabase: () => makeDatabase(url), stop: () => need.stop().finally(() => folder.remove()) }
  } catch (error) {
    folder.remove()
    throw error
  }
}

/** The lowest real-time priority is above every ordinary process. Its children inherit it. */
function putFirst(pid: number): void {
  execFileSync('chrt', ['-a', '-r', '-p', '1', String(pid)], { stdio: 'ignore' })
}

/** A new and empty one; returns its address. */
async function makeDatabase(serverUrl: string): Promise<string> {
  const name = `parley_run_${randomBytes(6).toString('hex')}`
  const client = await connectTo(serverUrl)
  try {
    await client.query(`create database ${name}`)
  } finally {
    await client.end()
  }
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

/** A connection for looking at what is stored; whoever asks for it ends it. */
export async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  return client
}
