import { type Cancel, type Clock, waitAtMost } from '../kernel/clock.ts'
import type { Log } from '../platform/log.ts'
import type { LiveSessions } from '../voice/live-sessions.ts'
import type { CarrierRequests } from './carrier-requests.ts'
import type { OpenCalls } from './open-calls.ts'
import type { OrphanedCalls } from './orphaned-calls.ts'
import type { HeedOthers } from './others-word.ts'

/** What looks after calls in the background, each second. */
export type CallWatch = {
  start(): void
  /** Begins nothing more; what is under way goes on. Never rejects. */
  stop(): Promise<void>
  /** Stops, gives up what is on its way to carriers, and waits a second at most for the rest. Never rejects. */
  close(): Promise<void>
}

type Deps = {
  clock: Clock
  log: Pick<Log, 'info' | 'warn'>
  live: Pick<LiveSessions, 'all'>
  orphanedCalls: OrphanedCalls
  openCalls: OpenCalls
  requests: CarrierRequests
  heedOthers: HeedOthers
}

const INTERVAL_MS = 1_000
/** How often a node asks whether its calls are still its own; after it was away it asks at once. */
const OWN_INTERVAL_MS = 5_000
const AWAY_MS = 2_500
const LONG_AWAY_MS = 10_000
const CLOSE_WITHIN_MS = 1_000

export function makeCallWatch(deps: Deps): CallWatch {
  return new Watch(deps)
}

class Watch implements CallWatch {
  readonly #deps: Deps
  #cancel: Cancel = () => {}
  #running: Promise<void> | null = null
  #isFailing = false
  #lastMs = Number.NEGATIVE_INFINITY
  #ownAtMs = Number.NEGATIVE_INFINITY

  constructor(deps: Deps) {
    this.#deps = deps
  }

  start(): void {
    this.#cancel = this.#deps.clock.every(INTERVAL_MS, () => this.#runUnlessRunning())
    this.#runUnlessRunning()
  }

  async stop(): Promise<void> {
    this.#cancel()
    await this.#soon(async () => void (await this.#running))
  }

  async close(): Promise<void> {
    this.#cancel()
    const { requests, orphanedCalls, openCalls } = this.#deps
    requests.close()
    await this.#soon(async () => {
      await this.#running
      await orphanedCalls.settled()
      await openCalls.settled()
    })
  }

  async #soon(work: () => Promise<void>): Promise<void> {
    await waitAtMost(this.#deps.clock, work(), CLOSE_WITHIN_MS)
  }

  #runUnlessRunning(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = null
    })
  }

  /** A database that is away is said once, and once that it is back. */
  async #run(): Promise<void> {
    const { clock, log, orphanedCalls, openCalls } = this.#deps
    const nowMs = clock.monotonicMs()
    const wasAway = nowMs - this.#lastMs > AWAY_MS
    try {
      if (wasAway || nowMs - this.#ownAtMs >= OWN_INTERVAL_MS) await this.#heedOthers(nowMs)
      await orphanedCalls.sweep()
      // Not when the database is only slow: every run would take long then, and each would ask for all.
      if (nowMs - this.#lastMs > LONG_AWAY_MS) await openCalls.wasAway()
      this.#lastMs = nowMs
      await openCalls.sweep()
      if (this.#isFailing) log.info('calls are looked after again')
      this.#isFailing = false
    } catch (err) {
      if (!this.#isFailing) log.warn({ err }, 'calls cannot be looked after')
      this.#isFailing = true
    }
  }

  /** A node that could not be heard does not know whether its calls were taken: it serves them until it does. */
  async #heedOthers(nowMs: number): Promise<void> {
    const { live, heedOthers } = this.#deps
    await heedOthers(live.all().map(({ facts }) => facts))
    this.#ownAtMs = nowMs
  }
}
