// Runs the tests that every change must pass: `npm test`, `npm test -- service/src/kernel`, `npm test -- --full`, `npm test -- --shaken`.
// Starts what they need beside Node, on private ports and folders, and stops it however the run ends.
import { constants } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { findChromium } from './needs/chromium.ts'
import { type Need, type NeedContext, UnmetNeed } from './needs/need.ts'
import { startPostgres } from './needs/postgres.ts'
import { findRedis } from './needs/redis.ts'
import { makeRunFolder, type RunFolder, sweepAbandonedRuns } from './needs/run-folder.ts'
import { type Counts, countResults } from './testing/counts.ts'
import { isOfEveryChange } from './testing/one-database.ts'
import { runVitest } from './testing/vitest.ts'

const FLAGS = ['--full', '--shaken']
const IS_SHAKEN = process.argv.includes('--shaken')

/** Else how a query is done would depend on whether the server looked at a test's database in these seconds. */
const UNVACUUMED = { autovacuum: 'off' }
/** More processes than usual, each with pools of its own. */
const FOR_MORE = { max_connections: '900' }

/** Everything the tests need; a further need is one more function here. */
const NEEDS: ((context: NeedContext) => Promise<Need>)[] = [
  findRedis,
  findChromium,
  (context) => startPostgres(context, { ...UNVACUUMED, ...(IS_SHAKEN && FOR_MORE) }),
]

/** Programs that tests start read what the first of them has compiled: it lies where the launcher's own does. */
const COMPILED = join(import.meta.dirname, '..', 'node_modules', '.cache', 'compiled')

/** What makes processes stutter. */
const SHAKING = pathToFileURL(join(import.meta.dirname, 'testing', 'shaking.ts')).href

type Outcome = { exitCode: number; counts: Counts }

function abortOnSignals(): AbortController {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort(signal))
  return stopping
}

async function startNeeds(context: NeedContext, started: Need[]): Promise<void> {
  for (const start of NEEDS) {
    started.push(await start(context))
    context.signal.throwIfAborted()
  }
}

async function runTests(context: NeedContext, needs: Need[]): Promise<Outcome> {
  const full = process.argv.includes('--full')
  const args = process.argv.slice(2).filter((argument) => !FLAGS.includes(argument))
  const env = {
    ...process.env,
    ...Object.assign({}, ...needs.map((need) => need.env)),
    ...{ TMPDIR: join(context.folder.path, 'tmp'), PARLEY_TEST_SCRATCH: context.folder.scratchPath },
    NODE_COMPILE_CACHE: COMPILED,
    ...(full && { PARLEY_TEST_FULL: '1' }),
    ...(IS_SHAKEN && { PARLEY_TEST_SHAKEN: '1', NODE_OPTIONS: `--import ${SHAKING}` }),
    ...(isOfEveryChange(process.argv.slice(2)) && { PARLEY_TEST_ONE_DATABASE: '1' }),
  }
  const { exitCode, reportPath } = await runVitest({ ...context, args, env })
  return { exitCode, counts: countResults(reportPath, exitCode) }
}

async function runWithNeeds(folder: RunFolder, signal: AbortSignal): Promise<Outcome> {
  const needs: Need[] = []
  try {
    await startNeeds({ folder, signal }, needs)
    return await runTests({ folder, signal }, needs)
  } catch (error) {
    if (!signal.aborted) console.error(error instanceof UnmetNeed ? error.message : error)
    return { exitCode: 1, counts: { passed: 0, failed: 1 } }
  } finally {
    for (const need of needs.reverse()) await need.stop()
    folder.remove()
  }
}

const stopping = abortOnSignals()
sweepAbandonedRuns()
const { exitCode, counts } = await runWithNeeds(makeRunFolder({ databaseInMemory: true }), stopping.signal)
if (stopping.signal.aborted) process.exit(128 + constants.signals[stopping.signal.reason as NodeJS.Signals])
// The last line, alone: what reads the result reads this.
console.log(`${counts.passed} passed, ${counts.failed} failed`)
process.exitCode = exitCode === 0 && counts.failed > 0 ? 1 : exitCode
