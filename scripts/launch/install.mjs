import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from './lock.mjs'
import { NODE_MAJOR_MIN, nodeMajorOf } from './node-version.mjs'
import { runQuietly } from './run-quietly.mjs'

// Install scripts stay off: nothing here needs one, and they are how a poisoned package runs code.
const NPM_CI = ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund']

function stampPath(root) {
  return join(root, 'node_modules', '.parley-installed')
}

function readIfThere(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

/** The fields of a package.json that an install looks at: a changed script is no reason for one. */
function installedFrom(manifest) {
  const { name, version, bin, workspaces, overrides, ...rest } = JSON.parse(readIfThere(manifest) || '{}')
  const { dependencies, devDependencies, optionalDependencies, peerDependencies } = rest
  const lists = { dependencies, devDependencies, optionalDependencies, peerDependencies }
  return JSON.stringify({ name, version, bin, workspaces, overrides, ...lists })
}

/** Everything that decides what an install would put there, as one hash. */
function fingerprint(root) {
  const { workspaces = [] } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`)
  for (const file of ['package-lock.json', '.npmrc']) hash.update(`${readIfThere(join(root, file))}\n`)
  for (const folder of ['.', ...workspaces]) hash.update(`${installedFrom(join(root, folder, 'package.json'))}\n`)
  return hash.digest('hex')
}

/** The npm that runs us, with the Node that runs it; else the one in PATH. */
function npm() {
  const { npm_execpath: cli, npm_node_execpath: node } = process.env
  if (cli && /npm-cli\.c?js$/.test(cli)) return { command: node || process.execPath, prefix: [cli] }
  return { command: 'npm', prefix: [] }
}

/** Runs `npm ci`. */
function runNpmCi(root, alsoHeldBy) {
  const { command, prefix } = npm()
  const names = { doing: 'Installing', program: 'npm', command: 'npm ci' }
  return runQuietly({ command, args: [...prefix, ...NPM_CI], cwd: root, names }, alsoHeldBy)
}

/**
 * npm puts node_modules/.bin first in PATH. A packaged Node that does not run here would so break every script, and one
 * that is not needed would hide the host's own.
 */
function unlinkPackagedNodeUnlessNeeded(root) {
  const link = join(root, 'node_modules', '.bin', 'node')
  const host = process.env.npm_node_execpath || process.execPath
  const hostIsPackaged = host.startsWith(join(root, 'node_modules'))
  const hostSuffices = !hostIsPackaged && nodeMajorOf(host) >= NODE_MAJOR_MIN
  if (hostSuffices || nodeMajorOf(link) === 0) rmSync(link, { force: true })
}

async function install(root, alsoHeldBy) {
  const wanted = fingerprint(root)
  if (readIfThere(stampPath(root)) === wanted) return
  console.log('Installing dependencies…')
  rmSync(stampPath(root), { force: true })
  await runNpmCi(root, alsoHeldBy)
  unlinkPackagedNodeUnlessNeeded(root)
  // Last, and in one step: a stamp means that everything before it was done.
  mkdirSync(join(root, 'node_modules'), { recursive: true })
  writeFileSync(`${stampPath(root)}.new`, wanted)
  renameSync(`${stampPath(root)}.new`, stampPath(root))
}

/**
 * Makes node_modules what the lockfile says, and does nothing when it already is. Two at once: the second waits.
 * @param {string} root the project's folder
 * @throws Error with npm's output and an `exitCode` when the install fails; the next call then tries again
 */
export async function installWhenStale(root) {
  if (readIfThere(stampPath(root)) === fingerprint(root)) return
  await withLock(join(root, 'tmp', 'install.lock'), (alsoHeldBy) => install(root, alsoHeldBy))
}
