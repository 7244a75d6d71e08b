import { join } from 'node:path'
import { type Ending, run } from '../testing/program.ts'

const SCRIPTS = join(import.meta.dirname, '..')

/**
 * Runs a command of this folder's parent with these settings; of the test's own environment it has only what programs are found
 * by, and kept compiled. `cwd`: where it looks for `.env`.
 */
export function runLive(
  script: string,
  args: string[],
  settings: Record<string, string>,
  cwd?: string,
): Promise<Ending> {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const env = { PATH, NODE_COMPILE_CACHE, ...settings }
  return run(process.execPath, [join(SCRIPTS, script), ...args], { env, cwd })
}
