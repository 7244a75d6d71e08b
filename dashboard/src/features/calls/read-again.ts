import { serviceNow } from '../../api/service-clock.ts'
import type { CallLog, VoiceSession } from './call-queries.ts'
import { isGoingOn } from './call-status.tsx'

const GOES_ON_MS = 2_000
const IS_SCORED_MS = 5_000
/** A model that has not answered by then does so when it can. */
const SCORED_WITHIN_MS = 600_000

type Known = {
  call: Pick<CallLog, 'ended_at'>
  /** Undefined: it has none, or it is not read yet. */
  session: Pick<VoiceSession, 'qa_status' | 'extraction_status'> | undefined
  /** Its events tell when there is something to be read. */
  isFollowed: boolean
}

/** After how long a call is to be read again, in ms: while it goes on, and until it has been scored. False: as it is it stays. */
export function readAgainMs({ call, session, isFollowed }: Known, nowMs = serviceNow()): number | false {
  if (isGoingOn(call)) return isFollowed ? false : GOES_ON_MS
  const isPending =
    session?.qa_status === null || session?.qa_status === 'pending' || session?.extraction_status === 'pending'
  const sinceMs = nowMs - new Date(call.ended_at ?? nowMs).getTime()
  return isPending && sinceMs < SCORED_WITHIN_MS ? IS_SCORED_MS : false
}
