import { type Clock, withTimeout } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Resuming } from '../records/resuming.ts'
import type { LiveSessions } from '../voice/live-sessions.ts'

/**
 * The ends that sessions took for granted when their streams were over. A carrier that asks what comes next has a live call: its
 * stream may have been stopped for another node, which has taken the call from this one.
 */
export type GuessedEnds = {
  /**
   * Whether the call is over after all. Of one that another node has, or nobody, nothing is kept here from then on. An end that
   * is being written down is waited for.
   *
   * @throws AppError `unavailable` when that is not known within five seconds, or whatever the records throw.
   */
  isOver(tenantId: TenantId, callSid: string): Promise<boolean>
}

type Deps = {
  clock: Clock
  live: Pick<LiveSessions, 'callHere' | 'forget'>
  resuming: Pick<Resuming, 'standOf'>
}

/** Less than the answer to a carrier may take. */
const WITHIN_MS = 5_000
const LOOK_INTERVAL_MS = 50

export function makeGuessedEnds({ clock, live, resuming }: Deps): GuessedEnds {
  const late = () => new AppError('unavailable', 'It is not known yet whether the call is over.')

  /** Resolves when the end was written down or not: from then on it is no guess, or nothing is known of it. */
  async function settled(callSid: string, untilMs: number): Promise<void> {
    while (live.callHere(callSid)?.isGuessed) {
      if (clock.monotonicMs() >= untilMs) throw late()
      await new Promise<void>((resolve) => clock.after(LOOK_INTERVAL_MS, resolve))
    }
  }

  async function isOverBy(tenantId: TenantId, callSid: string, untilMs: number): Promise<boolean> {
    const holder = live.callHere(callSid)?.holder
    const stand = holder
      ? await resuming.standOf({ tenantId, callSid, epoch: holder.epoch, next: holder.next ?? [] })
      : 'held'
    if (stand === 'over') return true
    if (stand !== 'lost') await settled(callSid, untilMs)
    else if (holder) live.forget(tenantId, callSid, holder.epoch)
    // Another stream may have begun here meanwhile: then the call goes on.
    return (live.callHere(callSid)?.reason ?? null) !== null
  }

  return {
    isOver(tenantId, callSid) {
      const untilMs = clock.monotonicMs() + WITHIN_MS
      return withTimeout(clock, isOverBy(tenantId, callSid, untilMs), WITHIN_MS, late)
    },
  }
}
