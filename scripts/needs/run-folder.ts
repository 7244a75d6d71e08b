import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { identityOf, isRunning } from '../launch/process-identity.mjs'

const PREFIX = 'parley-test-'
/** Linux's folder in memory. */
const MEMORY = '/dev/shm'
const MEMORY_PREFIX = 'parley-run-'
/** In a container it may hold 64 MB; the databases of a run, which come and go, need some 400 MB. */
const ENOUGH_BYTES = 1024 ** 3
const PIDS_FILE = 'pids'
/** A folder without a named owner is left alone this long: its maker may be about to name itself. */
const UNNAMED_MS = 60_000

/** The folder of one test run; everything a run writes outside the checkout lies in it. */
export type RunFolder = {
  path: string
  /** Where its database server keeps its files: in `path`, or in memory. */
  databasePath: string
  /** Where tests make folders of their own, beside the database. Nobody else needs to remove them: they go with the run. */
  scratchPath: string
  /** Names a process that belongs to this run, so that a later run can end it if this one is killed. */
  ownProcess: (pid: number) => void
  remove: () => void
}

function identitiesIn(path: string): string[] {
  try {
    return readFileSync(join(path, PIDS_FILE), 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}

function isAbandoned(path: string): boolean {
  const [owner] = identitiesIn(path)
  if (owner !== undefined) return !isRunning(owner)
  return Date.now() - statSync(path).mtimeMs > UNNAMED_MS
}

/** Only with a start time is it sure that the id was not given to another process since. */
function endProcess(identity: string): void {
  const [pid, startTicks] = identity.split(' ')
  if (startTicks !== undefined && isRunning(identity)) process.kill(Number(pid), 'SIGKILL')
}

/** With retries: a process that was just told to end may still write. */
function removeWhole(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 10 })
}

/** Whoever may write into the temporary folder could name any process in a folder of that name: root would end it. */
function isOurs(path: string): boolean {
  const stat = lstatSync(path)
  return stat.isDirectory() && stat.uid === process.getuid?.()
}

function sweep(path: string): void {
  try {
    if (!isOurs(path) || !isAbandoned(path)) return
    for (const identity of identitiesIn(path)) endProcess(identity)
    removeWhole(path)
  } catch {
    // Another run is sweeping it too.
  }
}

/** Ends the processes and removes the folders of runs that were killed before they could. */
export function sweepAbandonedRuns(): void {
  sweepIn(tmpdir(), PREFIX)
  if (existsSync(MEMORY)) sweepIn(MEMORY, MEMORY_PREFIX)
}

function sweepIn(parent: string, prefix: string): void {
  for (const name of readdirSync(parent)) {
    if (name.startsWith(prefix)) sweep(join(parent, name))
  }
}

function hasRoom(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize >= ENOUGH_BYTES
  } catch {
    return false
  }
}

/** Makes a folder that names this process as its owner. */
function ownedFolder(prefix: string): string {
  const path = mkdtempSync(prefix)
  nameProcess(path, process.pid)
  chmodSync(path, 0o711)
  return path
}

function nameProcess(path: string, pid: number): void {
  appendFileSync(join(path, PIDS_FILE), `${identityOf(pid)}\n`)
}

type RunFolderOptions = {
  /**
   * Keep the database in memory where there is room. A disk that others write to keeps whoever drops a database waiting for seconds,
   * and tests drop one for each of their files; what is measured should have its disk.
   */
  databaseInMemory?: boolean
}

/**
 * Makes the folder of this run in the system's temporary folder, with `tmp` in it for what tests write.
 * Other users may pass through it (a database server runs as one), not list it.
 */
export function makeRunFolder({ databaseInMemory = false }: RunFolderOptions = {}): RunFolder {
  const path = ownedFolder(join(tmpdir(), PREFIX))
  mkdirSync(join(path, 'tmp'))
  const databasePath = databaseInMemory && hasRoom(MEMORY) ? ownedFolder(join(MEMORY, MEMORY_PREFIX)) : path
  const scratchPath = join(databasePath, 'tmp')
  mkdirSync(scratchPath, { recursive: true })
  return {
    path,
    databasePath,
    scratchPath,
    ownProcess: (pid) => nameProcess(path, pid),
    remove() {
      for (const each of new Set([databasePath, path])) removeWhole(each)
    },
  }
}
