import type { TestClock } from './clock.ts'
import { until } from './wait.ts'

const STEP_MS = 250

type PassOptions = {
  what: string
  /** How far time is moved at once; 250 ms if not given. */
  stepMs?: number
  /** As of `until`. */
  timeoutMs?: number
}

/** Moves a clock on, step by step, until the condition holds: what else `until` does, this does. */
export function passing<T>(
  clock: TestClock,
  condition: () => T | Promise<T>,
  { stepMs = STEP_MS, ...options }: PassOptions,
): Promise<Exclude<T, false | null | undefined>> {
  return until(async () => {
    const value = await condition()
    if (value === false || value === null || value === undefined) await clock.advance(stepMs)
    return value
  }, options)
}
