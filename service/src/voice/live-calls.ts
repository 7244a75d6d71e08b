import { type Clock, waitAtMost } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import { iso } from '../platform/http/schemas.ts'
import { type AskedAction, actOn, type LiveAction } from './live-actions.ts'
import type { WatchedEvents } from './live-events.ts'
import type { LiveSession, LiveSessions } from './live-sessions.ts'
import { newestFirst } from './newest-first.ts'

/** A live call, and what was done to it, as the API tells them: the same on the wire between nodes. */
export type ShownCall = ReturnType<typeof showCall>
export type ShownAction = ReturnType<typeof showAction>

/** `fault`: it was done as far as it is ours to do, and the call's carrier has failed. Left out where it has not. */
export type DoneAction = ShownAction & { fault?: string }

/** A tenant's live calls, as far as they can be reached. */
export type LiveCalls = {
  /** Newest first. */
  list(tenantId: TenantId): Promise<ShownCall[]>
  /** @throws AppError `not_found`. */
  get(tenantId: TenantId, streamSid: string): Promise<ShownCall>
  /** @throws AppError `not_found`, and as `actOn`. */
  act(tenantId: TenantId, streamSid: string, asked: AskedAction): Promise<DoneAction>
  /** What happens in the call after the event `afterId`, to be watched from the same one. @throws AppError `not_found`. */
  events(tenantId: TenantId, streamSid: string, afterId: number): Promise<WatchedEvents>
}

/** Those of this process. */
export function liveCallsHere(live: LiveSessions, clock: Clock): LiveCalls {
  function known(tenantId: TenantId, streamSid: string): LiveSession {
    const session = live.find(tenantId, streamSid)
    if (!session) throw noSuchSession()
    return session
  }

  return {
    list: async (tenantId) => live.list(tenantId).map(showCall).sort(newestFirst),
    get: async (tenantId, streamSid) => showCall(known(tenantId, streamSid)),
    async act(tenantId, streamSid, asked) {
      const session = known(tenantId, streamSid)
      const action = await actOn(session, asked, clock.now())
      const fault = asked.action === 'end_call' ? await endFault(session, clock) : null
      return { ...showAction(session, action), ...(fault !== null && { fault }) }
    },
    events: async (tenantId, streamSid) => known(tenantId, streamSid).events,
  }
}

/** A carrier that answers has failed three times by then; one that takes longer may do it yet. */
const ENDED_WITHIN_MS = 4_000
const NOT_ENDED = {
  failed: 'The agent has left the call, and its carrier has not ended it: it is asked again in a few seconds.',
  no_account:
    'The agent has left the call. Whether it is over is not known: its tenant has no account at the carrier that could be asked.',
}

/** Why the call goes on that was ended; null as far as nobody says so. */
async function endFault({ hangUp }: LiveSession, clock: Clock): Promise<string | null> {
  const outcome = hangUp && (await waitAtMost(clock, hangUp, ENDED_WITHIN_MS))
  return outcome === 'failed' || outcome === 'no_account' ? NOT_ENDED[outcome] : null
}

export function noSuchSession(): AppError {
  return new AppError('not_found', 'There is no such live session.')
}

function showCall(session: LiveSession) {
  const { facts, phase, isMuted, isTakenOver, isPersonGone, isBeingPutThrough, lines, escalation, events } = session
  const { lastWords, lastResponseMs } = events
  const { personName } = lines
  return {
    stream_sid: facts.streamSid,
    call_sid: facts.callSid,
    voice_session_id: facts.sessionId as string,
    tenant: facts.tenantId as string,
    org_id: facts.orgId,
    agent_name: facts.agentName,
    call_type: facts.callType as string,
    customer_phone: facts.customerPhone,
    greeting: facts.greeting,
    started_at: iso(facts.startedAt),
    state: phase as string,
    muted: isMuted,
    taken_over: isTakenOver && !isPersonGone,
    escalated: escalation !== null,
    escalation_target: escalation?.target ?? null,
    // Left out, because a node of the version before leaves them out as well.
    ...(personName !== null && { taken_over_by: personName }),
    ...(isBeingPutThrough && { being_put_through: true }),
    ...(lastWords && { last_words: lastWords }),
    ...(lastResponseMs !== null && { last_response_ms: lastResponseMs }),
  }
}

function showAction({ facts }: LiveSession, { id, at, ...action }: LiveAction) {
  const { tenantId, streamSid: stream_sid, callSid: call_sid } = facts
  return { id, tenant_id: tenantId as string, stream_sid, call_sid, ...action, created_at: iso(at) }
}
