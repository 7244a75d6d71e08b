import { isLostToAnother } from './errors.ts'

const MAX_TRIES = 3

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
