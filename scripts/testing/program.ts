import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'

/** How a program ended: exactly one of `code` and `signal` is set. */
export type Ending = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }

/** A program under test; `printed` is what it wrote to stdout so far. */
export type Program = { child: ChildProcess; printed: () => string; ended: Promise<Ending> }

/** Makes a Node call itself by another version, so that all ways are tested on whatever Node runs the tests. */
export function asNode(version: string): string[] {
  const says = `Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`
  return ['--import', `data:text/javascript,${says}`]
}

/** One that is too old. */
export const AS_NODE_20 = asNode('20.0.0')

/** Starts a program and collects what it prints. Whoever starts it awaits `ended`. */
export function start(command: string, args: string[], options: SpawnOptions = {}): Program {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const ended = new Promise<Ending>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
  return { child, printed: () => stdout, ended }
}

/** Runs a program to its end. */
export function run(command: string, args: string[], options: SpawnOptions = {}): Promise<Ending> {
  return start(command, args, options).ended
}
