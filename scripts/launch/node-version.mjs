import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** The oldest Node that runs Parley: those before have no Argon2 (24.7), or cannot be told which requests may become a WebSocket. */
export const NODE_MIN = '24.9'

const ANSWER_MS = 10_000

/**
 * Whether a Node of this version runs Parley.
 * @param {string} version such as `24.9.0`; empty: there is none
 * @returns {boolean}
 */
export function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number)
  const [majorMin, minorMin] = NODE_MIN.split('.').map(Number)
  return major > majorMin || (major === majorMin && minor >= minorMin)
}

/**
 * Runs `node --version`.
 * @param {string} path of a Node binary
 * @returns {string} its version; empty when it is not there or does not run here (another C library, another processor)
 */
export function nodeVersionOf(path) {
  const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: ANSWER_MS })
  return status === 0 ? (/^v(\d+\.\d+\.\d+)/.exec(stdout)?.[1] ?? '') : ''
}

/**
 * Where the Node of this platform lies once the dependencies are installed; there are packages for Linux only.
 * @param {string} root the project's folder
 * @returns {string}
 */
export function packagedNodePath(root) {
  return join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')
}

/** Alpine's C library is another one, on which the packages do not run. */
function hasGlibc() {
  return process.report.getReport().header.glibcVersionRuntime !== undefined
}

/**
 * Refuses a Node that is too old where no package would bring a newer one, so that nobody finds out after an install.
 * @throws Error that says what to do
 */
export function expectNodeOrPackage() {
  if (isNewEnough(process.versions.node)) return
  if (process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch) && hasGlibc()) return
  throw new Error(
    `Parley needs Node ${NODE_MIN} or newer, which it fetches by itself on Linux with glibc (x64, arm64) alone; this is Node ${process.versions.node}: install a newer one from https://nodejs.org (on Windows within WSL).`,
  )
}
