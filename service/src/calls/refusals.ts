import { FAILED_INSIDE } from '../kernel/errors.ts'
import type { CallRecord } from '../records/call-record.ts'
import { isOver } from '../records/call-status.ts'
import { REJECTED } from '../records/call-values.ts'

/**
 * Why a call was not taken, as its log has it in `error_code`; how one that came in ended by that, and a sentence for people.
 * Busy: another time there may be room, or the tenant may want it. Failed: no agent could have talked to anybody.
 */
export const NOT_TAKEN = {
  tenant_full: { status: 'busy', reason: 'There were as many calls as limits.max_concurrent_calls allows.' },
  process_full: { status: 'busy', reason: 'The service had as many calls as MAX_CALLS allows.' },
  overloaded: { status: 'busy', reason: 'The service had no time for another call.' },
  stopping: { status: 'busy', reason: 'The service was about to stop.' },
  minutes_exhausted: { status: 'busy', reason: 'The calls of the day had taken limits.minutes_per_day.' },
  budget_exhausted: { status: 'busy', reason: 'The calls of the day had cost limits.budget_per_day.' },
  [REJECTED]: { status: 'busy', reason: 'The address of inbound_decision rejected it.' },
  no_agent: { status: 'failed', reason: 'The agent that was to talk has published no version.' },
  no_model: { status: 'failed', reason: 'No realtime model was configured.' },
  too_slow: { status: 'failed', reason: 'It could not be found out in time who takes the call.' },
  internal: { status: 'failed', reason: FAILED_INSIDE },
} as const

export type Refusal = keyof typeof NOT_TAKEN

/** Why a call was not taken, by what its log has; null for any other call. */
export function refusalOf(errorCode: string | null): Refusal | null {
  return errorCode !== null && Object.hasOwn(NOT_TAKEN, errorCode) ? (errorCode as Refusal) : null
}

const OF_ONE_NODE: readonly Refusal[] = ['process_full', 'overloaded', 'stopping']

/** Whether another node, or this one a moment later, may have room all the same. */
export function isOfOneNode(why: Refusal): boolean {
  return OF_ONE_NODE.includes(why)
}

/** Somebody else has answered a call that was not taken: it was put through, and nobody has missed it. */
export function withServed({ log, session }: CallRecord): CallRecord {
  return { log, session: { ...session, end_reason: 'transferred' } }
}

/** Whether the call came in and was written down as not taken: what its carrier tells of it then is of a sentence, or of somebody else. */
export function isRefused({ log, session }: CallRecord): boolean {
  const isEnded = session.end_reason === 'rejected' || session.end_reason === 'transferred'
  return log.direction === 'inbound' && isOver(log.status) && isEnded && refusalOf(log.error_code) !== null
}
