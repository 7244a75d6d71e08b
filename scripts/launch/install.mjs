import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from './lock.mjs'
import { isNewEnough, nodeVersionOf } from './node-version.mjs'
import { runQuietly } from './run-quietly.mjs'

// Install scripts stay off: nothing here needs one, and they are how a poisoned package runs code.
const WITH_TOOLS = ['--include=dev', '--ignore-scripts', '--no-audit', '--no-fund']
const NPM_CI = ['ci', ...WITH_TOOLS]
/** Takes nothing away first, and writes down nothing else than the lockfile says. */
const NPM_ADD = ['install', '--no-save', ...WITH_TOOLS]

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

/** Whether all that the programs need is there as this lockfile has it, by what npm wrote down at the end of an install. */
function hasPrograms(root) {
  const written = readIfThere(join(root, 'node_modules', '.package-lock.json'))
  if (!written) return false
  const { packages: there } = JSON.parse(written)
  const { packages: locked = {} } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(locked).every(([path, { version, integrity, dev, optional, devOptional }]) => {
    if (!path.includes('node_modules/') || dev || optional || devOptional) return true
    return path in there && there[path].version === version && there[path].integrity === integrity
  })
}

/** The npm that runs us, with the Node that runs it; else the one in PATH. */
function npm() {
  const { npm_execpath: cli, npm_node_execpath: node } = process.env
  if (cli && /npm-cli\.c?js$/.test(cli)) return { command: node || process.execPath, prefix: [cli] }
  return { command: 'npm', prefix: [] }
}

function runNpm(root, args, alsoHeldBy) {
  const { command, prefix } = npm()
  const names = { doing: 'Installing', program: 'npm', command: `npm ${args[0]}` }
  return runQuietly({ command, args: [...prefix, ...args], cwd: root, names }, alsoHeldBy)
}

/**
 * npm puts node_modules/.bin first in PATH. A packaged Node that does not run here would so break every script, and one
 * that is not needed would hide the host's own.
 */
function unlinkPackagedNodeUnlessNeeded(root) {
  const link = join(root, 'node_modules', '.bin', 'node')
  const host = process.env.npm_node_execpath || process.execPath
  const hostIsPackaged = host.startsWith(join(root, 'node_modules'))
  const hostSuffices = !hostIsPackaged && isNewEnough(nodeVersionOf(host))
  if (hostSuffices || nodeVersionOf(link) === '') rmSync(link, { force: true })
}

async function install(root, alsoHeldBy) {
  const wanted = fingerprint(root)
  if (readIfThere(stampPath(root)) === wanted) return
  console.log('Installing dependencies…')
  // Without a stamp, somebody else has put it there, and a service may be running from it.
  const args = !existsSync(stampPath(root)) && hasPrograms(root) ? NPM_ADD : NPM_CI
  rmSync(stampPath(root), { force: true })
  await runNpm(root, args, alsoHeldBy)
  unlinkPackagedNodeUnlessNeeded(root)
  // Last, and in one step: a stamp means that everything before it was done.
  mkdirSync(join(root, 'node_modules'), { recursive: true })
  writeFileSync(`${stampPath(root)}.new`, wanted)
  renameSync(`${stampPath(root)}.new`, stampPath(root))
}

/**
 * Makes node_modules what the lockfile says, and does nothing when it already is. Two at once: the second waits.
 * @param {string} root the project's folder
 * @param {boolean} needsTools false: what the programs need is enough, where that is there
 * @throws Error with npm's output and an `exitCode` when the install fails; the next call then tries again
 */
export async function installWhenStale(root, needsTools) {
  if (readIfThere(stampPath(root)) === fingerprint(root)) return
  if (!needsTools && hasPrograms(root)) return
  await withLock(join(root, 'tmp', 'install.lock'), (alsoHeldBy) => install(root, alsoHeldBy))
}
