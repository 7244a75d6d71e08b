import { type DatabaseConnection, DefaultConnectionProvider } from 'kysely'

/** What has not answered for so long may never answer, and counts no more: a test may be about that, or have left it behind. */
const ANSWERS_WITHIN_MS = 1_000

/** Counts what is asked of a provider's connections: returns whether any of it is neither answered nor given up. */
export function watchWork(provider: Pick<DefaultConnectionProvider, 'provideConnection'>): () => boolean {
  const beganMs = new Map<symbol, number>()
  const provide = provider.provideConnection
  async function watched<T>(
    this: DefaultConnectionProvider,
    consumer: (connection: DatabaseConnection) => Promise<T>,
  ): Promise<T> {
    const work = Symbol('work')
    beganMs.set(work, performance.now())
    try {
      return (await provide.call(this, consumer)) as T
    } finally {
      beganMs.delete(work)
    }
  }
  provider.provideConnection = watched
  return () => beganMs.values().some((atMs) => performance.now() - atMs < ANSWERS_WITHIN_MS)
}

/**
 * Whether a database was asked something by this process within the last second, in any way, that it has not answered: every statement
 * and every transaction of every handle has its connection from here.
 */
export const isDatabaseAtWork = watchWork(DefaultConnectionProvider.prototype)
