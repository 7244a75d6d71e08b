import { isOver } from '../records/call-status.ts'
import type { OpenCall } from './open-calls-store.ts'

/** What is to be done about an open call that somebody looks at. */
export type OpenCallStep =
  /** Nothing more can come of it. */
  | 'complete'
  /** Whoever has it will end it. */
  | 'wait'
  /** Nobody will end its session, and it is over or has nobody to ask. */
  | 'end'
  /** Its stream never came, and has nobody to ask. */
  | 'cancel'
  /** Its carrier knows. */
  | 'ask'

/** What decides beside the call itself. */
export type StepFacts = {
  nowMs: number
  /** The call is older than it may become. */
  isTooOld: boolean
  /** This process has the call, and neither its session nor its end is to be found here. */
  isForgotten: boolean
}

/** The end of a call is written within this, whatever the database does meanwhile: it answers now. */
const WRITTEN_WITHIN_MS = 600_000

/** Pure; the carrier's word is applied before, so that the same rules follow from it. */
export function stepFor(call: OpenCall, facts: StepFacts): OpenCallStep {
  if (isOver(call.status)) return stepForOver(call, facts)
  if (call.direction !== 'browser') return 'ask'
  if (call.begunAt === null) return call.owner === null ? 'cancel' : 'wait'
  return isAbandoned(call, facts) || facts.isTooOld ? 'end' : 'wait'
}

function stepForOver(call: OpenCall, facts: StepFacts): OpenCallStep {
  if (call.endedAt !== null) return 'complete'
  const overMs = facts.nowMs - (call.overAt?.getTime() ?? facts.nowMs)
  return isAbandoned(call, facts) || overMs >= WRITTEN_WITHIN_MS ? 'end' : 'wait'
}

/** Whether no process serves the call's session any more. Of a node that is gone the calls are taken before they are looked at. */
export function isAbandoned({ owner, endedAt }: OpenCall, { isForgotten }: StepFacts): boolean {
  return owner === null || isForgotten || endedAt !== null
}
