// A week of three tenants' operators in virtual time, on two nodes that are killed now and then; `SIM_USAGE` says more.
import { constants } from 'node:os'
import { readCommand } from '../harness/command-line.ts'
import { startTestServer, type TestServer } from '../kill/test-database.ts'
import { parseSimOptions, SIM_USAGE, type SimOptions } from './options.ts'
import { runWeek } from './week.ts'

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function abortOnSignals(server: () => TestServer | null): AbortSignal {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      process.exitCode = 128 + constants.signals[signal]
      stopping.abort()
      void (server()?.stop() ?? Promise.resolve()).finally(() => process.exit())
    })
  }
  return stopping.signal
}

async function run(options: SimOptions): Promise<number> {
  let started: TestServer | null = null
  const server = await startTestServer(
    abortOnSignals(() => started),
    options.isRealtime,
  )
  started = server
  try {
    const startedMs = performance.now()
    const { faults, figures } = await runWeek(server, options, print)
    const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1)
    print(
      Object.entries(figures)
        .map(([name, value]) => `${name} ${value}`)
        .join(', '),
    )
    for (const fault of faults) print(`FAIL: ${fault}`)
    print(faults.length === 0 ? `ok, in ${minutes} min` : `FAIL with --seed ${options.seed}, in ${minutes} min`)
    return faults.length === 0 ? 0 : 1
  } finally {
    await server.stop()
  }
}

try {
  const options = readCommand(SIM_USAGE, parseSimOptions)
  if (options) process.exitCode = await run(options)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  process.exitCode = 1
}
