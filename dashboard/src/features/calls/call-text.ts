import { endReasonText } from '../../components/end-reason.ts'
import { DASH, durationText } from '../../components/text.ts'

/** Who speaks in a call for the tenant. */
export function agentOf({ agent_name, agent_key }: { agent_name: string | null; agent_key: string | null }): string {
  return agent_name ?? agent_key ?? DASH
}

/** How long a call lasted; of one that goes on a dash. */
export function lengthOf({ duration_seconds: seconds }: { duration_seconds: number | null }): string {
  return seconds === null ? DASH : durationText(seconds)
}

/** Of calls that were placed, and in which nobody talked. */
const UNANSWERED: Record<string, string> = {
  busy: 'The line was busy',
  'no-answer': 'Nobody answered',
  canceled: 'It was cancelled before anybody answered',
}

/** Why a call ended; of one that nobody answered, whose session has only been refused, what its carrier tells. */
export function howEnded(call: { direction: string; status: string }, reason: string | null): string {
  const unanswered = call.direction === 'outbound' && reason === 'rejected' ? UNANSWERED[call.status] : undefined
  return unanswered ?? endReasonText(reason)
}
