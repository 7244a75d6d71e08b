import type { TestClock } from './clock.ts'
import { isDatabaseAtWork } from './database-work.ts'
import { until } from './wait.ts'

const STEP_MS = 250
/** Between the steps the machine does what they have set going: what is far off comes no later for it. */
const REST_MS = 5
/**
 * How long a step waits for what a database is asked, which it answers in the machine's own time: on a busy machine seconds of the clock
 * would be over before it does. Not longer, for a test may be about one that does not answer.
 */
const ANSWER_MS = 150
/** A longer step is over what a query may take, which would then fail each time: it waits for all that counts as being at work. */
const LONG_STEP_ANSWER_MS = 1_000
/** What a condition asks of the service may wait for the clock itself: what a busy machine has not answered by then gets time, too. */
const ASKED_MS = 1_000

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

/** Moves a clock on, step by step, until the work is done: its result, or what it throws. */
export async function passingWork<T>(clock: TestClock, work: Promise<T>): Promise<T> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  // What it throws is thrown below, and was not left unhandled meanwhile.
  done.catch(() => undefined)
  await passing(clock, () => isDone, { what: 'the work to be done' })
  return done
}

/** Moves a clock on, step by step, until the condition holds: what else `until` does, this does. */
export function passing<T>(
  clock: TestClock,
  condition: () => T | Promise<T>,
  { stepMs = STEP_MS, isBusy = () => false, ...options }: PassOptions,
): Promise<Exclude<T, false | null | undefined>> {
  let steppedMs = performance.now()
  const answerMs = stepMs > STEP_MS ? LONG_STEP_ANSWER_MS : ANSWER_MS
  const isAnswering = () => isDatabaseAtWork() && performance.now() - steppedMs < answerMs
  async function step(): Promise<void> {
    if (isBusy() || isAnswering()) return
    await clock.advance(stepMs)
    steppedMs = performance.now()
  }
  return until(
    async () => {
      const value = await answerOf(condition(), { step, ...options })
      const holds = value !== false && value !== null && value !== undefined
      if (!holds) await step()
      return value
    },
    { ...options, everyMs: REST_MS },
  )
}

/** What was asked for, for which time goes on once it is late. @throws Error when it does not come for as long as `until` waits. */
async function answerOf<T>(
  asked: T | Promise<T>,
  { step, ...options }: Pick<PassOptions, 'what' | 'timeoutMs'> & { step: () => Promise<void> },
): Promise<T> {
  let isDone = false
  const answered = Promise.resolve(asked).finally(() => {
    isDone = true
  })
  const { promise: overdue, reject } = Promise.withResolvers<never>()
  const isAnswered = () => isDone || step().then(() => isDone)
  let goingOn: Promise<unknown> = Promise.resolve()
  const late = setTimeout(() => {
    goingOn = until(isAnswered, { ...options, everyMs: REST_MS }).catch(reject)
  }, ASKED_MS)
  try {
    return await Promise.race([answered, overdue])
  } finally {
    clearTimeout(late)
    // The step in which it came: time would go on behind the test's back, and into the next one.
    await goingOn
  }
}
