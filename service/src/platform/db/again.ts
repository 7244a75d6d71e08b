import pg from 'pg'

/** serialization_failure, deadlock_detected: of those that got into each other one was refused, and would not be now. */
const LOST_TO_ANOTHER = new Set<string | undefined>(['40001', '40P01'])
const MAX_TRIES = 3

/** Whether it was refused because others did something at the same time: it can be done again at once. */
export function isLostToAnother(error: unknown): boolean {
  return error instanceof pg.DatabaseError && LOST_TO_ANOTHER.has(error.code)
}

/** Does what is refused because others did something at the same time again: twice at most, at once. Rejects as `work` does. */
export async function againWhenRefused<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (tries === MAX_TRIES || !isLostToAnother(error)) throw error
    }
  }
}
