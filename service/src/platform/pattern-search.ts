import { Worker } from 'node:worker_threads'
import type { Clock } from '../kernel/clock.ts'

/** Whether a pattern is found; null when to look took too long. */
export type PatternFound = boolean | null

/** As text, so that the thread needs no file of its own where the service is one bundle. */
const SEARCH = `
const { parentPort, workerData } = require('node:worker_threads')
for (const pattern of workerData.patterns) {
  const searched = new RegExp(pattern, 'iu')
  parentPort.postMessage(workerData.texts.some((text) => searched.test(text)))
}`
const MAX_HEAP_MB = 64

/** Why a pattern is no regular expression, in the engine's words; null when it is one. */
export function patternFault(pattern: string): string | null {
  try {
    new RegExp(pattern, 'iu')
    return null
  } catch (error) {
    return error instanceof Error ? error.message : 'it cannot be read'
  }
}

/**
 * Looks for regular expressions that others wrote, upper case like lower, in any of the texts: in a thread of its own, because there
 * are expressions that take for ever. What is not found within `withinMs` altogether is null.
 */
export function findPatterns(
  clock: Clock,
  { patterns, texts, withinMs }: { patterns: string[]; texts: string[]; withinMs: number },
): Promise<PatternFound[]> {
  if (patterns.length === 0) return Promise.resolve([])
  const found: PatternFound[] = []
  const worker = new Worker(SEARCH, {
    eval: true,
    workerData: { patterns, texts },
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  })
  return new Promise((resolve) => {
    const cancel = clock.after(withinMs, () => void worker.terminate())
    worker.on('message', (isFound: boolean) => found.push(isFound))
    // Its end follows.
    worker.on('error', () => undefined)
    worker.once('exit', () => {
      cancel()
      resolve(patterns.map((_pattern, index) => found[index] ?? null))
    })
  })
}
