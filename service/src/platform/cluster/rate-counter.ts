/** Whether one more was let in. */
export type Taken = {
  isAdmitted: boolean
  /** How many more would be let in now. */
  remaining: number
  /** In how many whole seconds there is room again, or a bit more of it. */
  resetSeconds: number
}

/** Counts what is done by a name, over all that share the counter. */
export type RateCounter = {
  /** Lets in one more by that name, or not: never more than `limit` in any 60 seconds. Never rejects. */
  take(name: string, limit: number): Promise<Taken>
}

export const WINDOW_SECONDS = 60

type Second = { at: number; count: number }

/** Addresses and tenants; at so many the one that was not seen for longest is forgotten. */
const MAX_NAMES = 100_000

/**
 * Counts in this process, by whole seconds: what was let in during the present second and the 60 before it is what counts, so
 * that the window is never shorter than 60 s, and up to one longer. Refusals do not count. Times are of one monotonic clock.
 */
export class RateWindows {
  /** Least recently used first. */
  readonly #byName = new Map<string, Second[]>()

  take(name: string, limit: number, nowMs: number): Taken {
    const now = Math.floor(nowMs / 1_000)
    const seconds = (this.#byName.get(name) ?? []).filter(({ at }) => at >= now - WINDOW_SECONDS)
    const total = seconds.reduce((sum, { count }) => sum + count, 0)
    const isAdmitted = total < limit
    if (isAdmitted) addTo(seconds, now)
    this.#keep(name, seconds, now)
    const used = isAdmitted ? total + 1 : total
    return { isAdmitted, remaining: Math.max(0, limit - used), resetSeconds: resetOf(seconds, used - limit, now) }
  }

  /** Undoes the last `take` that let one in, if that was not long ago. */
  giveBack(name: string): void {
    const seconds = this.#byName.get(name)
    const last = seconds?.at(-1)
    if (!last) return
    last.count -= 1
    if (last.count === 0) seconds?.pop()
  }

  get size(): number {
    return this.#byName.size
  }

  #keep(name: string, seconds: Second[], now: number): void {
    this.#byName.delete(name)
    if (seconds.length > 0) this.#byName.set(name, seconds)
    for (const [oldest, its] of this.#byName) {
      const isOver = (its.at(-1)?.at ?? 0) < now - WINDOW_SECONDS
      if (!isOver && this.#byName.size <= MAX_NAMES) break
      this.#byName.delete(oldest)
    }
  }
}

function addTo(seconds: Second[], now: number): void {
  const last = seconds.at(-1)
  if (last?.at === now) last.count += 1
  else seconds.push({ at: now, count: 1 })
}

/** When more than `excess` of them have left the window, so that there is room: at the earliest when the oldest have. */
function resetOf(seconds: Second[], excess: number, now: number): number {
  let gone = 0
  for (const { at, count } of seconds) {
    gone += count
    if (gone > excess) return at + WINDOW_SECONDS + 1 - now
  }
  return WINDOW_SECONDS + 1
}
