import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { withLock } from './lock.mjs'
import { runQuietly } from './run-quietly.mjs'

const FOLDER = 'dashboard'
const NOT_SOURCES = ['node_modules', 'dist']

/** Beside what was built, and so gone with it. */
function stampPath(root) {
  return join(root, FOLDER, 'dist', '.built-from')
}

function readIfThere(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

function filesBelow(folder) {
  const entries = readdirSync(folder, { withFileTypes: true })
  return entries
    .filter(({ name }) => !NOT_SOURCES.includes(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? filesBelow(path) : [path]
    })
    .sort()
}

/** Everything that decides what a build would make, as one hash. */
function fingerprint(root) {
  const hash = createHash('sha256')
  const files = [join(root, 'package-lock.json'), ...filesBelow(join(root, FOLDER))]
  for (const file of files) hash.update(`${file.slice(root.length)}\n${readIfThere(file)}\n`)
  return hash.digest('hex')
}

/** By the launcher, which finds a Node that is new enough. */
function runVite(root, alsoHeldBy) {
  const { resolve } = createRequire(join(root, FOLDER, 'package.json'))
  const vite = join(dirname(resolve('vite/package.json')), 'bin', 'vite.js')
  const args = [join(root, 'scripts', 'run.mjs'), vite, 'build', join(root, FOLDER)]
  const names = { doing: 'Building the dashboard', program: 'node', command: 'vite build' }
  return runQuietly({ command: process.execPath, args, cwd: root, names }, alsoHeldBy)
}

async function build(root, alsoHeldBy) {
  const wanted = fingerprint(root)
  if (readIfThere(stampPath(root)) === wanted) return
  console.log('Building the dashboard…')
  rmSync(stampPath(root), { force: true })
  await runVite(root, alsoHeldBy)
  // Last, and in one step: a stamp means that everything before it was done.
  writeFileSync(`${stampPath(root)}.new`, wanted)
  renameSync(`${stampPath(root)}.new`, stampPath(root))
}

/**
 * Makes dashboard/dist what the sources say, and does nothing when it already is. Two at once: the second waits.
 * @param {string} root the project's folder, with its dependencies installed
 * @throws Error with what the build said and an `exitCode` when it fails; the next call then tries again
 */
export async function buildDashboardWhenStale(root) {
  if (readIfThere(stampPath(root)) === fingerprint(root)) return
  await withLock(join(root, 'tmp', 'build.lock'), (alsoHeldBy) => build(root, alsoHeldBy))
}
