import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { aborted } from './aborted.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const PROGRAM = ['scripts/run.mjs', 'service/src/main.ts']
const START_TIMEOUT_MS = 60_000
/** The service stops in three seconds by itself; one that hangs is killed. */
const STOP_TIMEOUT_MS = 5_000
/** What is shown of a service that failed. */
const MAX_LINES_KEPT = 20

/** The service, running as a process of its own. */
export type ServiceProcess = {
  /** Where it listens. */
  readonly address: string
  /** Rejects when it ends before it was told to. Never resolves. */
  readonly failed: Promise<never>
  /** Resolves when it is gone. */
  stop(): Promise<void>
}

/**
 * Starts the service with these settings alone and waits until it listens. It stops by itself when this process is gone, in
 * whatever way; Ctrl-C in the terminal does not reach it, so that calls can be ended before it.
 *
 * @throws Error with the last lines that it wrote when it does not start within a minute; the signal's reason.
 */
export async function startService(settings: Record<string, string>, signal: AbortSignal): Promise<ServiceProcess> {
  const child = spawn(process.execPath, PROGRAM, {
    cwd: ROOT,
    detached: true,
    env: { PATH: process.env['PATH'], ...settings },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const exited = once(child, 'exit')
  const lines: string[] = []
  const failed = exited.then((): never => {
    throw new Error(['the service ended:', ...lines].join('\n'))
  })
  // Whoever stops it in order does not wait for this.
  failed.catch(() => {})
  try {
    const late = lateAfter(START_TIMEOUT_MS)
    const address = await Promise.race([addressOf(child, lines), failed, late, aborted(signal)])
    return { address, failed, stop: () => stop(child, exited) }
  } catch (error) {
    await stop(child, exited)
    throw error
  }
}

/** Reads all that it writes, to the end, and keeps the last lines. */
function addressOf(child: ChildProcess, lines: string[]): Promise<string> {
  const keep = (line: string) => {
    lines.push(line)
    if (lines.length > MAX_LINES_KEPT) lines.shift()
  }
  createInterface({ input: child.stderr as Readable }).on('line', keep)
  return new Promise((resolve) => {
    createInterface({ input: child.stdout as Readable }).on('line', (line) => {
      keep(line)
      if (line.includes('"msg":"listening"')) resolve((JSON.parse(line) as { address: string }).address)
    })
  })
}

function lateAfter(ms: number): Promise<never> {
  return new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error(`the service did not start within ${ms / 1_000} seconds`)), ms).unref()
  })
}

async function stop(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  const kill = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
  child.kill('SIGTERM')
  await exited
  clearTimeout(kill)
}
