import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'

const ROOT = join(import.meta.dirname, '..', '..')

/** What a step found: whether all is well, and what to show when it is not. */
export type Finding = { ok: boolean; output: string }

/** One check of the project, by itself. */
export type Step = { name: string; run: () => Promise<Finding> }

/** A step that was run, and how long it took. */
export type StepResult = Finding & { name: string; durationMs: number }

/** A step that runs a program of node_modules, or a script of this project, with the Node that runs us. */
export function program(name: string, path: string, args: string[] = []): Step {
  const file = path.includes('/') ? path : join('node_modules', '.bin', path)
  return { name, run: () => runNode([file, ...args]) }
}

/** A step that looks at something itself: no complaint means that all is well. */
export function inspection(name: string, complaints: () => string[]): Step {
  return {
    name,
    run: async () => {
      const found = complaints()
      return { ok: found.length === 0, output: found.join('\n') }
    },
  }
}

function runNode(args: string[]): Promise<Finding> {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const keep = (chunk: Buffer): void => {
    output += chunk.toString()
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ ok: code === 0, output }))
  })
}

async function runOne({ name, run }: Step, tell: (result: StepResult) => void): Promise<StepResult> {
  const startedMs = performance.now()
  const finding = await run()
  const result = { name, ...finding, durationMs: performance.now() - startedMs }
  tell(result)
  return result
}

/** Runs the steps, at most `atOnce` at a time, and tells each result as it comes. */
export async function runSteps(
  steps: Step[],
  atOnce: number,
  tell: (result: StepResult) => void,
): Promise<StepResult[]> {
  const waiting = [...steps]
  const results: StepResult[] = []
  const work = async (): Promise<void> => {
    for (let step = waiting.shift(); step; step = waiting.shift()) results.push(await runOne(step, tell))
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return results
}
