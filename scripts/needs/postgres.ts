import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from './command.ts'
import { freePort } from './free-port.ts'
import { type Need, type NeedContext, UnmetNeed } from './need.ts'
import { postgresBinaries } from './postgres-binaries.ts'

const READY = 'database system is ready to accept connections'
const READY_MS = 60_000
const STOP_MS = 10_000
const LOG_CHARS_MAX = 20_000
const ADMIN = 'parley'

/** Where the server lies and as whom it runs: it refuses root. */
type Place = { bin: string; folder: string; data: string; user: { uid?: number; gid?: number } }
type Settings = Record<string, string>
type Server = { child: ChildProcess; port: number; log: () => string }

/** Nothing of the caller's own PostgreSQL settings, and messages in the language that we look for. */
const ENVIRONMENT = { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' }

async function unprivilegedUser(): Promise<Place['user']> {
  if (process.getuid?.() !== 0) return {}
  const ids = await Promise.all(['-u', '-g'].map((flag) => runCommand('id', [flag, 'postgres'], {})))
  const [uid, gid] = ids.map(({ output }) => Number(output))
  if (ids.some(({ ok }) => !ok) || uid === undefined || gid === undefined) {
    throw new UnmetNeed('PostgreSQL does not run as root, and there is no user postgres to run it as.')
  }
  return { uid, gid }
}

function own(path: string, { uid, gid }: Place['user']): void {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
}

async function prepare({ folder, signal }: NeedContext): Promise<Place> {
  const bin = await postgresBinaries(signal)
  const user = await unprivilegedUser()
  const path = join(folder.databasePath, 'postgres')
  mkdirSync(path)
  own(path, user)
  return { bin, folder: path, data: join(path, 'data'), user }
}

/** Makes the cluster; only whoever knows the password gets in, because every user of this machine can reach the port. */
async function initialise(place: Place, password: string, signal: AbortSignal): Promise<void> {
  const passwordFile = join(place.folder, 'password')
  writeFileSync(passwordFile, password, { mode: 0o600 })
  own(passwordFile, place.user)
  const args = ['-D', place.data, '-U', ADMIN, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`]
  const options = { ...place.user, cwd: place.folder, env: ENVIRONMENT, signal }
  // --no-sync: the cluster is new and thrown away; what the running server writes is synced.
  const initdb = join(place.bin, 'initdb')
  const result = await runCommand(initdb, [...args, '--encoding=UTF8', '--locale=C', '--no-sync'], options)
  rmSync(passwordFile, { force: true })
  if (!result.ok) throw new UnmetNeed(`${result.output}initdb failed.`)
}

function settings(port: number, more: Settings): string[] {
  const values = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    fsync: 'on', // Tests kill processes in the middle of writes and count what was acknowledged.
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...more,
  }
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** In a group of its own: Ctrl-C in a terminal ends the tests first, and then we end the server. */
function spawnServer(place: Place, port: number, more: Settings): Server {
  const child = spawn(join(place.bin, 'postgres'), ['-D', place.data, ...settings(port, more)], {
    ...place.user,
    ...{ cwd: place.folder, env: ENVIRONMENT, detached: true, stdio: ['ignore', 'ignore', 'pipe'] },
  })
  let log = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-LOG_CHARS_MAX)
  })
  return { child, port, log: () => log }
}

/** Resolves true once the server answers, false when it ended before. */
function becomesReady({ child, log }: Server): Promise<boolean> {
  return new Promise((resolve) => {
    const giveUp = setTimeout(() => child.kill('SIGQUIT'), READY_MS)
    const settle = (ready: boolean): void => {
      clearTimeout(giveUp)
      resolve(ready)
    }
    child.stderr?.on('data', () => log().includes(READY) && settle(true))
    child.once('error', () => settle(false))
    child.once('close', () => settle(false))
  })
}

/** Another process may take the free port before the server does: then another one is tried. */
async function listen(place: Place, folder: NeedContext['folder'], more: Settings, tries = 3): Promise<Server> {
  const server = spawnServer(place, await freePort(), more)
  if (server.child.pid !== undefined) folder.ownProcess(server.child.pid)
  if (await becomesReady(server)) return server
  if (tries > 1 && server.log().includes('could not bind')) return listen(place, folder, more, tries - 1)
  throw new UnmetNeed(`${server.log()}PostgreSQL did not start.`)
}

/** A fast stop: open connections are closed. It is killed when that takes too long. */
async function stop({ child }: Server): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const kill = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  child.kill('SIGINT')
  await once(child, 'exit')
  clearTimeout(kill)
}

/**
 * Starts a PostgreSQL server of this run's own, on a free port of 127.0.0.1 and in the run's folders, and sets
 * PARLEY_TEST_DATABASE_URL to its superuser. When that variable is set already, that server is used and left alone.
 * @param more settings that it is to have beside ours, by their names.
 * @throws UnmetNeed when there is no server to start, or it does not start
 */
export async function startPostgres(context: NeedContext, more: Settings = {}): Promise<Need> {
  if (process.env['PARLEY_TEST_DATABASE_URL']) return { env: {}, stop: async () => {} }
  const place = await prepare(context)
  const password = randomBytes(24).toString('hex')
  await initialise(place, password, context.signal)
  const server = await listen(place, context.folder, more)
  const url = `postgres://${ADMIN}:${password}@127.0.0.1:${server.port}/postgres`
  return { env: { PARLEY_TEST_DATABASE_URL: url }, stop: () => stop(server) }
}
