import { Worker } from 'node:worker_threads'
import type { Clock } from '../kernel/clock.ts'

/** Whether a pattern is found; null when to look took too long. */
export type PatternFound = boolean | null

/** What the thread says before it looks: that it takes its time to start is no fault of the patterns. */
const BEGUN = 'begun'
const START_WITHIN_MS = 5_000

/** As text, so that the thread needs no file of its own where the service is one bundle. */
const SEARCH = `
const { parentPort, workerData } = require('node:worker_threads')
parentPort.postMessage('${BEGUN}')
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

/** `withinMs`: altogether, from when it is begun to look. */
type Search = { patterns: string[]; texts: string[]; withinMs: number }

/**
 * Looks for regular expressions that others wrote, upper case like lower, in any of the texts: in a thread of its own, because there
 * are expressions that take for ever. What is not found in time is null.
 */
type FindPatterns = (search: Search) => Promise<PatternFound[]>

/** One search at a time, whoever asks: those who write endless expressions share one core. */
export function makePatternSearch(clock: Clock): FindPatterns {
  let before: Promise<unknown> = Promise.resolve()
  return (search) => {
    if (search.patterns.length === 0) return Promise.resolve([])
    const found = before.then(() => find(clock, search))
    before = found.catch(() => undefined)
    return found
  }
}

function find(clock: Clock, { patterns, texts, withinMs }: Search): Promise<PatternFound[]> {
  const found: PatternFound[] = []
  const worker = new Worker(SEARCH, {
    eval: true,
    workerData: { patterns, texts },
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  })
  return new Promise((resolve) => {
    const endIn = (ms: number) => clock.after(ms, () => void worker.terminate())
    let cancel = endIn(START_WITHIN_MS)
    worker.on('message', (message: boolean | typeof BEGUN) => {
      if (message !== BEGUN) {
        found.push(message)
        return
      }
      cancel()
      cancel = endIn(withinMs)
    })
    // Its end follows.
    worker.on('error', () => undefined)
    worker.once('exit', () => {
      cancel()
      resolve(patterns.map((_pattern, index) => found[index] ?? null))
    })
  })
}
