import type { Clock } from '../kernel/clock.ts'

/** Carriers give up after 15 s, and what the caller hears then is an error tone. */
const ANSWER_WITHIN_MS = 8_000

/** The answer to a carrier, or what `late` says instead when it takes more than 8 s. What comes of it later counts for nothing. */
export function withinTime<T>(clock: Clock, answer: Promise<T>, late: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ANSWER_WITHIN_MS, () => resolve(late()))
    answer.then(resolve, reject).finally(cancel)
  })
}
