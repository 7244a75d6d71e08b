import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { type RateCounter, RateWindows, type Taken, WINDOW_SECONDS } from './rate-counter.ts'

type Deps = {
  clock: Clock
  /** Counts for all nodes. @throws AppError `unavailable` when that cannot be done now. */
  takeShared(name: string, limit: number): Promise<Taken>
  /** For how long that could be done without a break, in ms: for ever when there was none, 0 when it cannot be done. */
  sharedForMs(): number
  /** How many nodes there are, as far as is known. */
  nodes(): number
}

/** So long after a break the shared count knows all that still counts: what was let in during the break has left the window. */
const SETTLED_MS = (WINDOW_SECONDS + 1) * 1_000

/** The counter of a node that is alone. */
export function aloneRateCounter(clock: Clock): RateCounter {
  const windows = new RateWindows()
  return { take: async (name, limit) => windows.take(name, limit, clock.monotonicMs()) }
}

/**
 * The counter of a node among others. All that is let in here is counted here too: while the shared count is away, and for a
 * window after it came back, this node lets in no more than its share of the limit, so that all of them together keep it. A
 * shared count that has forgotten everything is bounded by what each node knows of itself.
 */
export function sharedRateCounter({ clock, takeShared, sharedForMs, nodes }: Deps): RateCounter {
  const windows = new RateWindows()
  return {
    async take(name, limit) {
      const share = Math.max(1, Math.floor(limit / Math.max(1, nodes())))
      const own = windows.take(name, sharedForMs() >= SETTLED_MS ? limit : share, clock.monotonicMs())
      if (!own.isAdmitted || sharedForMs() === 0) return own
      try {
        const shared = await takeShared(name, limit)
        if (!shared.isAdmitted) windows.giveBack(name)
        return shared
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        windows.giveBack(name)
        return windows.take(name, share, clock.monotonicMs())
      }
    },
  }
}
