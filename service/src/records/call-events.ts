import { type NewEvent, wantsEvent } from '../delivery/enqueue.ts'
import type { Tx } from '../platform/db/schema.ts'
import type { EventName } from '../tenancy/tenant-events.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { durationSeconds, showCallLog } from './call-log-shape.ts'
import { type CallRecord, isComplete } from './call-record.ts'
import { isOver } from './call-status.ts'
import { tellRecording } from './recording-events.ts'
import { listFunctionCalls, listTurns } from './transcript-store.ts'
import { showSession, showWholeSession } from './voice-session-shape.ts'

/**
 * What a change of a call is told by, in the order in which it is told. Each comes once in the life of a call, as the change
 * that it tells can be made once, but for a session's resumption, and for who answered, of whom more may become known.
 */
function eventsOf(before: CallRecord, after: CallRecord): EventName[] {
  const isAnswered = before.log.answered_at === null && after.log.answered_at !== null && !isOver(before.log.status)
  const isAnsweredBy = after.log.answered_by !== null && before.log.answered_by !== after.log.answered_by
  const isStarted = before.session.started_at === null && after.session.started_at !== null
  const isEscalated = !before.log.escalated && after.log.escalated
  const isResumed = before.session.resumed_count < after.session.resumed_count
  const isEnded = before.session.ended_at === null && after.session.ended_at !== null
  const isEndTold = !after.session.completion_held && (isEnded || before.session.completion_held)
  const isDone = !isComplete(before) && isComplete(after)
  const told: [EventName, boolean][] = [
    ['voice.call.started', isAnswered],
    ['voice.call.answered', isAnsweredBy],
    ['voice.session.started', isStarted],
    ['voice.session.escalated', isEscalated],
    ['voice.session.resumed', isResumed],
    ['voice.session.completed', isEndTold],
    ['voice.call.failed', isDone && after.log.status !== 'completed'],
    ['voice.call.completed', isDone],
  ]
  return told.flatMap(([event, happened]) => (happened ? [event] : []))
}

/** The events that the tenant wants to be told of a change, with their payloads. */
export async function tellChange(
  tx: Tx,
  tenant: TenantRuntime,
  before: CallRecord,
  after: CallRecord,
): Promise<NewEvent[]> {
  const subject = { callSid: after.session.call_sid, sessionId: after.session.id }
  const events: NewEvent[] = []
  for (const event of eventsOf(before, after).filter((name) => wantsEvent(tenant, name))) {
    events.push({ event, subject, payload: await payloadOf(tx, event, after) })
  }
  const isEnded = before.session.ended_at === null && after.session.ended_at !== null
  return isEnded ? [...events, ...(await tellRecording(tx, tenant, after.session))] : events
}

async function payloadOf(tx: Tx, event: EventName, { log, session }: CallRecord): Promise<Record<string, unknown>> {
  switch (event) {
    case 'voice.call.completed':
      return { duration_seconds: durationSeconds(log) ?? 0, status: log.status, call_log: showCallLog(log) }
    case 'voice.session.escalated':
      return { voice_session: showSession(session), call_log: showCallLog(log) }
    case 'voice.session.completed': {
      const turns = await listTurns(tx, session.tenant_id, session.id)
      const calls = await listFunctionCalls(tx, session.tenant_id, session.id)
      return { voice_session: showWholeSession(session, turns, calls) }
    }
    default:
      return event.startsWith('voice.call.') ? { call_log: showCallLog(log) } : { voice_session: showSession(session) }
  }
}
