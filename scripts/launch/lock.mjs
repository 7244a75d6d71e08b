import { appendFileSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { identityOf, isRunning } from './process-identity.mjs'

const POLL_MS = 200
/** Between creating a lock and writing its holder lie microseconds; after this, its creator died there. */
const UNWRITTEN_MS = 10_000

function ageMs(path) {
  try {
    return Date.now() - statSync(path).mtimeMs
  } catch {
    return 0
  }
}

function holders(path) {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}

function tryToCreate(path) {
  try {
    writeFileSync(path, `${identityOf(process.pid)}\n`, { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

function isAbandoned(path) {
  const named = holders(path)
  return named.length === 0 ? ageMs(path) > UNWRITTEN_MS : !named.some(isRunning)
}

/** Only one process at a time may judge and remove a lock, else the second removes the first one's new lock. */
function removeIfAbandoned(path) {
  const guard = `${path}.takeover`
  try {
    mkdirSync(guard)
  } catch {
    if (ageMs(guard) > UNWRITTEN_MS) rmSync(guard, { recursive: true, force: true })
    return
  }
  try {
    if (isAbandoned(path)) rmSync(path, { force: true })
  } finally {
    rmdirSync(guard)
  }
}

/**
 * Runs `work` while holding the lock file at `path`; a second process waits, with one line that says so.
 *
 * The lock of a holder that died is taken over. `work` is given `alsoHeldBy(pid)`: the lock then also stands for
 * as long as that process lives, so that a child that outlives its parent is not run into.
 * @param {string} path
 * @param {(alsoHeldBy: (pid: number) => void) => Promise<void>} work
 */
export async function withLock(path, work) {
  mkdirSync(dirname(path), { recursive: true })
  for (let waited = false; !tryToCreate(path); waited = true) {
    if (!waited) console.log('Waiting for another install in this folder…')
    removeIfAbandoned(path)
    await delay(POLL_MS)
  }
  try {
    await work((pid) => appendFileSync(path, `${identityOf(pid)}\n`))
  } finally {
    rmSync(path, { force: true })
  }
}
