import { StatusBadge, type Tone } from '../../components/status-badge.tsx'
import { words } from '../../components/text.ts'
import type { CallLog } from './call-queries.ts'

const TONES: Record<CallLog['status'], Tone> = {
  ...{ queued: 'wait', initiated: 'wait', ringing: 'wait', 'in-progress': 'busy' },
  ...{ completed: 'good', busy: 'quiet', 'no-answer': 'quiet', canceled: 'quiet', failed: 'bad' },
}

/** All states of a call. */
export const CALL_STATUSES = Object.keys(TONES) as CallLog['status'][]

/** How far a call has come. */
export function CallStatus({ status }: Pick<CallLog, 'status'>) {
  return <StatusBadge tone={TONES[status]}>{words(status)}</StatusBadge>
}

/** Whether it goes on. */
export function isGoingOn({ ended_at }: Pick<CallLog, 'ended_at'>): boolean {
  return ended_at === null
}

/** Whether what was said in it is gone for good: each call that a carrier had has a session until then. */
export function isErased(call: Pick<CallLog, 'call_sid' | 'ended_at' | 'voice_session_id'>): boolean {
  return call.call_sid !== null && !isGoingOn(call) && call.voice_session_id === null
}
