import type { TestClock } from './clock.ts'
import { until } from './wait.ts'

const STEP_MS = 250
/** Between the steps the machine does what they have set going: what is far off comes no later for it. */
const REST_MS = 5

type PassOptions = {
  what: string
  /** How far time is moved at once; 250 ms if not given. */
  stepMs?: number
  /**
   * Time stands still while this holds: say what has a deadline by this clock and is done in the machine's own time. Needed where a
   * few steps are longer than that deadline, which would be over before a busy machine gets to the answer.
   */
  isBusy?: () => boolean
  /** As of `until`. */
  timeoutMs?: number
}

/** Moves a clock on, step by step, until the condition holds: what else `until` does, this does. */
export function passing<T>(
  clock: TestClock,
  condition: () => T | Promise<T>,
  { stepMs = STEP_MS, isBusy = () => false, ...options }: PassOptions,
): Promise<Exclude<T, false | null | undefined>> {
  return until(
    async () => {
      const value = await condition()
      const holds = value !== false && value !== null && value !== undefined
      if (!holds && !isBusy()) await clock.advance(stepMs)
      return value
    },
    { ...options, everyMs: REST_MS },
  )
}
