#!/usr/bin/env node
import { once } from 'node:events'
import { readCommand, USAGE, UsageError } from './cli/options.ts'
import { run } from './cli/run.ts'
import { serve } from './cli/serve.ts'
import { ScenarioError } from './scenario/scenario-error.ts'

const FAILED = 1
const MISUSED = 2

function write(text: string): void {
  process.stdout.write(text)
}

async function main(): Promise<void> {
  const command = readCommand(process.argv.slice(2))
  if (command.command === 'help') return write(USAGE)
  if (command.command === 'run') {
    process.exitCode = (await run(command, write)) ? 0 : FAILED
    return
  }
  // Before it says that it is there: who reads that may stop it at once. A parent with a channel to here that dies, however
  // it dies, cannot stop it any more.
  const stopped = Promise.race(['SIGINT', 'SIGTERM', 'disconnect'].map((event) => once(process, event)))
  const simulator = await serve(command, write)
  await stopped
  await simulator.close()
  if (process.connected) process.disconnect()
}

try {
  await main()
} catch (error) {
  const isMistake = error instanceof UsageError || error instanceof ScenarioError
  const isPlain = isMistake || (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
  process.stderr.write(`${error instanceof Error ? (isPlain ? error.message : error.stack) : String(error)}\n`)
  process.exitCode = isMistake ? MISUSED : FAILED
}
