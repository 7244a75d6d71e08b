import { join } from 'node:path'
import { type Ending, run } from '../testing/program.ts'

const SCRIPTS = join(import.meta.dirname, '..')

/** Runs a command of this folder's parent with these settings, and nothing of the test's own environment but the path. */
export function runLive(script: string, args: string[], settings: Record<string, string>): Promise<Ending> {
  const env = { PATH: process.env['PATH'], ...settings }
  return run(process.execPath, [join(SCRIPTS, script), ...args], { env })
}
