import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import type { RunFolder } from '../needs/run-folder.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const GRACE_MS = 5_000
/**
 * This process runs an embedded database for seconds only, to make the one that tests copy: to compile it a second time, for speed later
 * on, takes half of what that takes of the processor. The processes of tests, which run theirs for minutes, do.
 */
const COMPILED_ONCE = '--liftoff-only'

/** What vitest is told by its command line and environment; its report is written to the run's folder. */
export type VitestRun = { folder: RunFolder; args: string[]; env: NodeJS.ProcessEnv; signal: AbortSignal }

/** How vitest ended, and where its JSON report is if it wrote one. */
export type VitestEnding = { exitCode: number; reportPath: string }

/** Signals the whole group: tests start programs of their own. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal)
  } catch {
    // Nothing of the group is left.
  }
}

/** Asks the group to end, and ends it when it does not. */
function endGroup(child: ChildProcess): void {
  signalGroup(child, 'SIGTERM')
  const kill = setTimeout(() => signalGroup(child, 'SIGKILL'), GRACE_MS)
  child.once('exit', () => clearTimeout(kill))
}

/**
 * Runs vitest to its end (code 1 when a signal ended it). Aborting `signal` ends it and what its tests started; what
 * its tests left running is ended in any case.
 */
export function runVitest({ folder, args, env, signal }: VitestRun): Promise<VitestEnding> {
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
  const reportPath = join(folder.path, 'report.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportPath}`]
  const command = [COMPILED_ONCE, vitest, 'run', ...reporters, ...args]
  const child = spawn(process.execPath, command, { cwd: ROOT, env, stdio: 'inherit', detached: true })
  if (child.pid !== undefined) folder.ownProcess(child.pid)
  const onAbort = (): void => endGroup(child)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => {
      signalGroup(child, 'SIGKILL')
      resolve({ exitCode: code ?? 1, reportPath })
    })
  })
}
