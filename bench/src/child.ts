import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { getPriority, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'

/** Where and how a child runs: on which cores, whether before everything else that wants them, and when it has to die. */
export type Place = { cores: readonly number[]; isRealtime: boolean; signal: AbortSignal }

/** How a child is started. `nodeArgs`: options for Node itself. `stopTimeoutMs`: how long it may take to end when asked. */
export type ChildOptions = Place & {
  /** It measures, and comes before what it measures where that can be had: as root. */
  isYardstick?: boolean
  stdio: StdioOptions
  env?: NodeJS.ProcessEnv | undefined
  nodeArgs?: string[]
  stopTimeoutMs?: number
}

const STOP_TIMEOUT_MS = 2_000

/**
 * Who measures shares a core with the database, which would make it late: what it then measures is itself. Real-time priorities are both
 * above every ordinary process.
 */
export const REALTIME_PRIORITY = { measured: '1', yardstick: '2' }
export const NICENESS = { measured: 0, yardstick: -15 }

/** Sets how nice a process is to others, where this one may say who comes first; elsewhere all are alike. */
export function prefer(pid: number, niceness: number): void {
  try {
    if (getPriority(pid) !== niceness) setPriority(pid, niceness)
  } catch {
    // Not root, or without that right; or the process has ended, which its own end tells.
  }
}

/** A process of ours, pinned to its cores. */
export class Child {
  readonly process: ChildProcess
  readonly #name: string
  readonly #exited: Promise<void>
  readonly #stopTimeoutMs: number

  private constructor(name: string, child: ChildProcess, stopTimeoutMs: number) {
    this.#name = name
    this.process = child
    this.#stopTimeoutMs = stopTimeoutMs
    this.#exited = new Promise((resolve) => child.once('exit', () => resolve()))
  }

  /**
   * Runs a file of this workspace with this Node on `place.cores`; killed when `place.signal` aborts.
   * It leads a process group of its own, so that Ctrl-C in the terminal reaches only the runner, which then decides.
   */
  static async start(file: URL, args: string[], options: ChildOptions): Promise<Child> {
    const path = fileURLToPath(file)
    const { cores, isRealtime, isYardstick = false, signal, stdio, env, nodeArgs = [] } = options
    const role = isYardstick ? 'yardstick' : 'measured'
    const before = isRealtime ? ['chrt', '-r', REALTIME_PRIORITY[role]] : []
    const pinned = ['taskset', '-c', cores.join(), process.execPath, ...nodeArgs, path, ...args]
    const [command = '', ...rest] = [...before, ...pinned]
    const child = spawn(command, rest, { signal, stdio, env, killSignal: 'SIGKILL', detached: true })
    const started = new Child(path, child, options.stopTimeoutMs ?? STOP_TIMEOUT_MS)
    await once(child, 'spawn')
    // It begins as nice as this process is, and its threads with it.
    if (child.pid !== undefined) prefer(child.pid, NICENESS[role])
    // An abort is also an `error` of the child; those who wait for it hear of its end.
    child.on('error', () => {})
    return started
  }

  /** Its process id. */
  get pid(): number {
    const { pid } = this.process
    if (pid === undefined) throw new Error(`${this.#name} did not start`)
    return pid
  }

  /** Waits for `wanted`, or throws because the process ended first. */
  async before<T>(wanted: Promise<T>): Promise<T> {
    const ended = this.#exited.then(() => {
      throw new Error(`${this.#name} ended too early`)
    })
    return Promise.race([wanted, ended])
  }

  /** Ends the process, by force when it takes too long. Resolves when it is gone; may be repeated. */
  async stop(): Promise<void> {
    this.process.kill('SIGTERM')
    const timer = setTimeout(() => this.process.kill('SIGKILL'), this.#stopTimeoutMs)
    await this.#exited
    clearTimeout(timer)
  }
}
