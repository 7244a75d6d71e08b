import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { withLock } from './lock.mjs'
import { NODE_MAJOR_MIN, nodeMajorOf } from './node-version.mjs'

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

/** Runs `npm ci` and keeps its output (progress, engine warnings) to itself unless it fails. */
function runNpmCi(root, alsoHeldBy) {
  const { command, prefix } = npm()
  const child = spawn(command, [...prefix, ...NPM_CI], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  if (child.pid !== undefined) alsoHeldBy(child.pid)
  const output = []
  child.stdout.on('data', (chunk) => output.push(chunk))
  child.stderr.on('data', (chunk) => output.push(chunk))
  const interrupted = forwardSignals(child)
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new Error(`npm could not be run: ${error.message}`)))
    child.on('close', (code, signal) => {
      if (interrupted.by) reject(failure('Installing was interrupted.', 128 + constants.signals[interrupted.by]))
      else if (code === 0) resolve()
      else
        reject(
          failure(`${Buffer.concat(output)}\nInstalling failed: npm ci ended with ${signal ?? `code ${code}`}.`, 1),
        )
    })
  })
}

function failure(message, exitCode) {
  return Object.assign(new Error(message), { exitCode })
}

/** Passes signals on to the child and remembers which came: we end after it has, and with the signal's code. */
function forwardSignals(child) {
  const interrupted = { by: undefined }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      interrupted.by = signal
      child.kill(signal)
    })
  }
  return interrupted
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
