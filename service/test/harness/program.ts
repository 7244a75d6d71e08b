import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { childEnvironment } from './child-environment.ts'
import { until } from './wait.ts'
import { writtenBy } from './written.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const START_TIMEOUT_MS = 80_000
/**
 * A program of a test lives for seconds: to compile the embedded database a second time, for speed later on, takes more of the processor
 * than all that it is asked.
 */
const COMPILED_ONCE = '--liftoff-only'

/**
 * Settings of a program whose end is timed: another one writes at its end what it was the first to compile, which takes seconds on a busy
 * machine.
 */
export const KEEPS_NOTHING_COMPILED = { NODE_DISABLE_COMPILE_CACHE: '1' }

/** How a program ended, and how long that took after it was told to. */
export type Ending = { code: number | null; signal: NodeJS.Signals | null; afterMs: number }

/** The whole service as its own process: what an operator starts. */
export type Program = {
  pid: number
  /** Everything that it wrote so far. */
  stdout(): string
  stderr(): string
  /** Waits until it listens. @throws Error with what it wrote when it ends instead. */
  listening(): Promise<string>
  /** Sends the signal, or waits for its own end without one. */
  end(signal?: NodeJS.Signals): Promise<Ending>
}

const running = new Set<ChildProcess>()

/**
 * Starts `main.ts`, or another one, with these settings and nothing of the test's own environment but `childEnvironment`. End it in the
 * test; what a failed test leaves is killed by `killPrograms`.
 */
export function startProgram(settings: Record<string, string>, args: string[] = [], main = MAIN): Program {
  const child = spawn(process.execPath, [COMPILED_ONCE, main, ...args], {
    env: { ...childEnvironment(), PORT: '0', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  const written = writtenBy(child)
  const closed = once(child, 'close').then(() => running.delete(child))
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null

  return {
    pid: child.pid ?? 0,
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    listening: () =>
      until(
        () => {
          if (hasEnded()) throw new Error(`it ended instead of listening: ${written.stderr}${written.stdout}`)
          return addressIn(written.stdout)
        },
        { what: 'the program to listen', timeoutMs: START_TIMEOUT_MS },
      ),
    async end(signal) {
      const startedMs = performance.now()
      if (signal) child.kill(signal)
      await closed
      return { code: child.exitCode, signal: child.signalCode, afterMs: performance.now() - startedMs }
    },
  }
}

function addressIn(lines: string): string | undefined {
  const line = lines.split('\n').find((text) => text.includes('"msg":"listening"'))
  return line && (JSON.parse(line) as { address: string }).address
}

/** Kills what tests left running, and waits for its end: for `afterEach`. */
export function killPrograms(): Promise<void> {
  return killAll([...running])
}

/** Kills one that may not listen yet, and waits for its end. */
export function killProgram(pid: number): Promise<void> {
  return killAll([...running].filter((child) => child.pid === pid))
}

async function killAll(left: ChildProcess[]): Promise<void> {
  for (const child of left) child.kill('SIGKILL')
  await until(() => left.every((child) => !running.has(child)), { what: 'the programs to be gone' })
}
