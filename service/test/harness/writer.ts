import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { execPath } from 'node:process'
import { fileURLToPath } from 'node:url'
import { writtenBy } from './written.ts'

const PROGRAM = fileURLToPath(new URL('./writer-process.ts', import.meta.url))

/** A process that writes to an embedded database as fast as it can. */
export type Writer = {
  pid: number
  /** The last number whose insert it was told to be committed; 0 before the first. */
  acknowledged(): number
  /** What it said on its standard error. */
  complaint(): string
  /** Ends it as a crash would (SIGKILL) and resolves when it is gone. */
  kill(): Promise<void>
  /** Resolves with its exit code when it has ended by itself. */
  ended: Promise<number | null>
}

/** Starts a process of its own on the folder of an embedded database. Its owner must kill it. */
export function startWriter(folder: string): Writer {
  const child = spawn(execPath, [PROGRAM, folder], { stdio: ['ignore', 'pipe', 'pipe'] })
  const written = writtenBy(child)
  const ended = once(child, 'close').then(([code]: (number | null)[]) => code ?? null)
  return {
    pid: child.pid ?? Number.NaN,
    acknowledged: () => Number(written.stdout.slice(0, written.stdout.lastIndexOf('\n')).split('\n').at(-1) ?? 0),
    complaint: () => written.stderr,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    ended,
  }
}
