// Runs a program of this project on Node 24.9 or newer: `node scripts/run.mjs [--settings FILE] PROGRAM [ARGUMENT…]`.
// Which Node: the running one, else the packaged one, else one line that asks for it. It must itself run on Node 18.
// (The flag is not called --env-file, because Node takes that one for its own wherever it stands.)
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import module from 'node:module'
import { constants } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import util from 'node:util'
import { isNewEnough, NODE_MIN, nodeVersionOf, packagedNodePath } from './launch/node-version.mjs'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']
const NOTHING_INSTALLED = 'Nothing is installed here yet: run `npm ci --omit=dev --ignore-scripts` first.'
const launcher = fileURLToPath(import.meta.url)
const root = dirname(dirname(launcher))

function fail(sentence) {
  console.error(sentence)
  process.exit(1)
}

/** Some editors begin a file with it; the name of the first setting does not. */
const BYTE_ORDER_MARK = /^\uFEFF/

/** Node's own way of it says of every file that cannot be read that there is none. */
function textOf(path, program) {
  try {
    return readFileSync(path, 'utf8').replace(BYTE_ORDER_MARK, '')
  } catch ({ code }) {
    const advice = code === 'ENOENT' ? '`npm start` writes one' : 'Mend that'
    return fail(
      `${path} could not be read (${code}). ${advice}; where the settings are in the environment, run \`node scripts/run.mjs ${program}\`.`,
    )
  }
}

/** The environment wins over the file, so that one setting can be tried without an edit. */
function loadEnvFile(path, program) {
  for (const [name, value] of Object.entries(util.parseEnv(textOf(path, program)))) process.env[name] ??= value
}

/** Our parent is a launcher, and its channel closes however it dies: then we are to stop, not to go on unseen. */
function stopWithLauncher() {
  if (!process.channel) return
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel.unref()
}

/**
 * Our types are stripped and our modules compiled at the first start; later ones read the result. It lies with the modules, where
 * nobody writes who could not change them as well; a folder that cannot be written is done without.
 */
function compileOnce() {
  const modules = join(root, 'node_modules')
  if (existsSync(modules)) module.enableCompileCache(join(modules, '.cache', 'compiled'))
}

/** In this process: no second one to watch, and signals and the exit code are the program's own. */
async function runHere(args) {
  stopWithLauncher()
  compileOnce()
  const file = args[0] === '--settings' ? args.splice(0, 2)[1] : null
  const [program, ...rest] = args
  if (!program) fail('Usage: node scripts/run.mjs [--settings FILE] PROGRAM [ARGUMENT…]')
  if (file !== null) loadEnvFile(file, program)
  const path = resolve(program)
  process.argv = [process.execPath, path, ...rest]
  try {
    await import(pathToFileURL(path).href)
  } catch (error) {
    if (error?.code === 'ERR_MODULE_NOT_FOUND' && !existsSync(join(root, 'node_modules'))) fail(NOTHING_INSTALLED)
    throw error
  }
}

/** Ends as the child ended: by its code, or by the signal that killed it. */
function endLike(code, signal) {
  if (!signal) process.exit(code)
  for (const each of SIGNALS) process.removeAllListeners(each)
  process.kill(process.pid, signal)
  // Reached when the signal is ignored, as it is for process 1 of a container.
  setTimeout(() => process.exit(128 + constants.signals[signal]), 1000)
}

/** How the options begin that size the heap. */
const SIZES = ['--max-', '--min-']

/** Sizes of the heap are meant for the program, not for this process. */
function runOn(node, args) {
  const sizes = process.execArgv.filter((option) => SIZES.some((each) => option.startsWith(each)))
  const child = spawn(node, [...sizes, launcher, ...args], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => fail(`${node} could not be started: ${error.message}`))
  child.on('exit', endLike)
}

const args = process.argv.slice(2)
const packaged = packagedNodePath(root)

if (isNewEnough(process.versions.node)) await runHere(args)
else if (isNewEnough(nodeVersionOf(packaged))) runOn(packaged, args)
else {
  fail(
    `Parley needs Node ${NODE_MIN} or newer; this is Node ${process.versions.node}. Install it from https://nodejs.org, or on Linux with glibc run \`npm ci --omit=dev --ignore-scripts\` here, which brings one along.`,
  )
}
