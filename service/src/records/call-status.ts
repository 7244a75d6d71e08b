import { CALL_STATUSES, type CallStatus } from './call-values.ts'

/** That a call was seen to have a status at an instant: by the carrier's word, or by what happened here. */
export type Sighting = { status: CallStatus; at: Date }

const RANKS: Record<CallStatus, number> = {
  queued: 0,
  initiated: 1,
  ringing: 2,
  'in-progress': 3,
  completed: 4,
  busy: 4,
  failed: 4,
  'no-answer': 4,
  canceled: 4,
}

/** Whether a call of this status is over. */
export function isOver(status: CallStatus): boolean {
  return RANKS[status] === RANKS.completed
}

export const OVER_STATUSES = CALL_STATUSES.filter(isOver)

/**
 * What two sightings say together: the one that is further on; of two equally far ones the earlier, so that the first end of
 * a call stands. Callbacks come late, twice and in any order, and this gives the same whatever they do: it is commutative,
 * associative and idempotent, because it takes the greater of a total order.
 */
export function joinSightings(a: Sighting, b: Sighting): Sighting {
  return precedence(a, b) >= 0 ? a : b
}

/** Positive when `a` stands, negative when `b` does. */
function precedence(a: Sighting, b: Sighting): number {
  return (
    RANKS[a.status] - RANKS[b.status] ||
    b.at.getTime() - a.at.getTime() ||
    // Two ends in one instant: any rule will do that does not ask which was told first.
    (a.status === b.status ? 0 : a.status < b.status ? 1 : -1)
  )
}
