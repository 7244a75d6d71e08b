import { statusReport } from '../records/call-record.ts'
import type { SessionState } from '../voice/session/state.ts'
import type { EndedCall } from '../voice/session-builder.ts'
import type { CallEnding } from './finish.ts'

/** What is written down of a call whose session ended at `at`. */
export function endingOf({ call, reason, state }: EndedCall, at: Date): CallEnding {
  const { tenant, callSid, epoch } = call
  // The one case in which the call goes on without us: its carrier tells how that ends.
  const goesOn = reason === 'model_lost' && state.plan.fallbackNumber !== null && call.direction !== 'browser'
  return {
    tenantId: tenant.tenant_id,
    callSid,
    epoch,
    session: { endReason: reason, at, latency: latencyOf(state), usage: state.usage },
    call: goesOn ? null : statusReport('completed', at),
  }
}

function latencyOf({ latency }: SessionState) {
  const inOrder = latency.responsesMs.toSorted((a, b) => a - b)
  return {
    greetingMs: latency.greetingMs,
    responseP50Ms: percentile(inOrder, 50),
    responseP95Ms: percentile(inOrder, 95),
    interruptions: latency.interruptions,
  }
}

/** The smallest value that so many percent do not exceed; null of none. */
function percentile(inOrder: number[], percent: number): number | null {
  return inOrder[Math.max(0, Math.ceil((inOrder.length * percent) / 100) - 1)] ?? null
}
