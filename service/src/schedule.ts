import { type Cancel, type Clock, waitAtMost } from './kernel/clock.ts'
import { SaidOnce } from './platform/db/said-once.ts'
import type { Log } from './platform/log.ts'

/** Something that is done again and again, on every node: nodes share the work by claiming rows. */
export type ScheduledWork = {
  name: string
  /** Whether it can be asked for: only then may it be turned off here, for nobody else does what cannot be. */
  hasEndpoint: boolean
  run(): Promise<unknown>
}

/** The timers of the sweeps, and of what is done like them. */
export type Schedule = {
  start(): void
  /** Begins nothing more, and waits a little for what is on its way. Never rejects. */
  close(): Promise<void>
}

type Deps = {
  clock: Clock
  log: Pick<Log, 'warn'>
  /** 0: what has an endpoint is left to whoever asks for it. */
  intervalMs: number
  /** What has no endpoint is done as often at least, for nobody can ask for it in between; every five minutes if not given. */
  rareMs?: number
  /** From 0 to 1. */
  chance: () => number
  work: ScheduledWork[]
}

/** How far from the interval a wait may be, of the interval: nodes that were started together do not go on together. */
const JITTER = 0.1
/** None of what has no endpoint is in a hurry, but a call that was missed is looked for within the hour. */
const RARE_MS = 300_000
const CLOSE_WITHIN_MS = 2_000

/** Does each piece of work again and again, with the interval between an end and the next beginning: never twice at once. */
export function makeSchedule({ clock, log, intervalMs, rareMs = RARE_MS, chance, work }: Deps): Schedule {
  const cancels = new Map<string, Cancel>()
  const running = new Set<Promise<void>>()
  const unaskedMs = intervalMs === 0 ? rareMs : Math.min(intervalMs, rareMs)
  const everyMs = ({ hasEndpoint }: ScheduledWork) => (hasEndpoint ? intervalMs : unaskedMs)
  let isClosing = false

  function doIn(waitMs: number, each: ScheduledWork, said = new SaidOnce()): void {
    if (isClosing) return
    const failed = (err: unknown) =>
      said.failed(err, () => log.warn({ err, sweep: each.name }, 'a sweep failed: it is done again'))
    const once = () => {
      const doing = each
        .run()
        .then(() => said.done(), failed)
        .finally(() => {
          running.delete(doing)
          doIn(everyMs(each) * (1 - JITTER + 2 * JITTER * chance()), each, said)
        })
      running.add(doing)
    }
    cancels.set(each.name, clock.after(waitMs, once))
  }

  return {
    start() {
      for (const each of work) if (intervalMs > 0 || !each.hasEndpoint) doIn(everyMs(each) * chance(), each)
    },
    async close() {
      isClosing = true
      for (const cancel of cancels.values()) cancel()
      await waitAtMost(clock, Promise.all(running), CLOSE_WITHIN_MS)
    },
  }
}
