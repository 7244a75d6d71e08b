/** `npm run test:kill`: what becomes of the calls of a node that is killed. */
import { makeRandom } from '../../../simulator/src/carrier/random.ts'
import { abortOnSignals } from '../harness/abort-on-signals.ts'
import { readCommand } from '../harness/command-line.ts'
import { runKill } from './kill-run.ts'
import { describeKill, killFaults } from './kill-verdict.ts'
import { KILL_USAGE, type KillOptions, parseKillOptions } from './options.ts'
import { startTestServer } from './test-database.ts'

/** The kill comes up to so long after all are talking: in words, in answers, between them. */
const DELAY_MS_MIN = 1_500
const DELAY_MS_SPAN = 4_000

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Runs what was asked for; the sentences about broken bounds. */
async function runAll({ calls, runs, seed, afterLoss, isRealtime }: KillOptions): Promise<string[]> {
  const server = await startTestServer(abortOnSignals(), isRealtime)
  const faults: string[] = []
  try {
    for (let run = 0; run < runs; run++) {
      const delayMs = DELAY_MS_MIN + makeRandom(seed + run)() * DELAY_MS_SPAN
      for (const each of afterLoss) {
        const figures = await runKill(server, { calls, seed: seed + run, afterLoss: each, delayMs })
        for (const line of describeKill(figures)) print(line)
        const broken = killFaults(figures)
        print(broken.length === 0 ? 'ok\n' : `${broken.map((fault) => `FAIL: ${fault}`).join('\n')}\n`)
        faults.push(...broken)
      }
    }
  } finally {
    await server.stop()
  }
  return faults
}

try {
  const options = readCommand(KILL_USAGE, parseKillOptions)
  if (options) process.exitCode = (await runAll(options)).length === 0 ? 0 : 1
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  process.exitCode = 1
}
