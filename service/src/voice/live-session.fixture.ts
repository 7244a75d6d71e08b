import type { TenantId } from '../kernel/ids.ts'
import type { SessionId } from '../records/call-values.ts'
import { LiveEvents } from './live-events.ts'
import type { LiveSession } from './live-sessions.ts'

/** A call that goes on, as others see it: the call `CA1` of `acme`, whose stream is `MZ1`. */
export function someLiveSession(): LiveSession {
  return {
    facts: {
      ...{ streamSid: 'MZ1', callSid: 'CA1', sessionId: '0190b000-0000-7000-8000-000000000009' as SessionId },
      ...{ tenantId: 'acme' as TenantId, orgId: null, agentName: 'Robin', language: null, callType: 'inbound' },
      ...{ customerPhone: '+12025550123', greeting: '', startedAt: new Date(0) },
    },
    events: new LiveEvents(),
    ...{ phase: 'talking', recording: 'off', isMuted: false, isTakenOver: false, isPersonGone: false },
    ...{ lines: { listen: notAsked, takeOver: notAsked, personName: null }, transfers: { transfer: notAsked } },
    ...{ isBeingPutThrough: false, escalation: null, endReason: null, isEndGuessed: false, hasOpenTurns: false },
    ...{ hangUp: null, isLeaving: false, isLetGo: false, hold: null },
    command() {},
  }
}

function notAsked(): never {
  throw new Error('nobody asks for a line')
}
