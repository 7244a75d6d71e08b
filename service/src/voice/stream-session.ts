import type { Log } from '../platform/log.ts'
import { FIRST_EPOCH } from '../records/call-directory-store.ts'
import type { StartedSession } from '../records/sessions.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { StreamLeg } from './call-streams.ts'
import type { LiveCapacity, WantedRoom } from './live-capacity.ts'
import type { LiveSession, LiveSessions } from './live-sessions.ts'
import { StreamRefusal } from './media-stream.ts'
import type { EndedCall, SessionBuilder } from './session-builder.ts'
import type { Grant } from './stream-grant.ts'
import type { StreamedCall } from './streamed-call.ts'

/** What the sessions of streams are begun and ended with. */
export type StreamSessionDeps = {
  log: Pick<Log, 'info'>
  capacity: LiveCapacity
  live: LiveSessions
  /** Writes down how a call ended, and resolves when that is done or given up: with false when it was not the end of the call. */
  finish(ended: EndedCall): Promise<boolean>
}

/** Why a stream is closed that may not have its call, and one for which there is nothing here now. */
export const POLICY = 1008
export const TRY_AGAIN = 1013

/** Of the streams of a call one with a higher epoch takes it from the one that has it; of the same epoch there is one. */
export function mayTake({ epoch }: Grant, { hold }: LiveSession): boolean {
  return hold !== null && epoch !== null && epoch > hold.epoch
}

/** The room that a stream's call wants; later epochs than the first are those of calls that come back. */
export function roomOf(
  { tenant_id: tenantId, limits }: TenantRuntime,
  { callSid, epoch }: { callSid: string; epoch: number | null },
): WantedRoom {
  const comesBack = epoch !== null && epoch > FIRST_EPOCH
  return { tenantId, callSid, maxConcurrentCalls: limits.max_concurrent_calls, comesBack }
}

/** Whether no other process has had the call since the session that is here. */
export function isNewest({ facts }: LiveSession, started: StartedSession | null): boolean {
  return started?.before?.streamSid === facts.streamSid
}

/** One that is here and has not seen the latest of the call is gone before. @throws StreamRefusal when there is no room. */
export function beginAnew(
  deps: StreamSessionDeps,
  builder: SessionBuilder,
  { call, here, machine }: { call: StreamedCall; here: LiveSession | null; machine: string | null },
): StreamLeg {
  const room = roomOf(call.tenant, call)
  const noRoom = deps.capacity.passOn(room, () => here?.command({ type: 'taken' }))
  if (noRoom) throw new StreamRefusal(TRY_AGAIN, 'there is no room for the call')
  return beginSession(deps, builder, { call, machine })
}

/** The session goes on with the stream. @throws StreamRefusal when it is ending: its end counts for the stream, too. */
export function goOn(deps: StreamSessionDeps, here: LiveSession, call: StreamedCall): StreamLeg {
  const { tenant, callSid, streamSid } = call
  deps.live.renamed(here)
  const leg = here.hold?.attach(call)
  if (!leg) throw new StreamRefusal(POLICY, 'the call is ending')
  deps.log.info({ tenant_id: tenant.tenant_id, call_sid: callSid, stream_sid: streamSid }, 'call goes on')
  return leg
}

function beginSession(
  deps: StreamSessionDeps,
  builder: SessionBuilder,
  { call, machine }: { call: StreamedCall; machine: string | null },
): StreamLeg {
  const { tenant, callSid, streamSid, direction } = call
  const { session, live } = builder.build(call, (ended) => {
    deps.capacity.release({ tenantId: tenant.tenant_id, callSid })
    // Whoever has the call now writes its end.
    if (ended.state.isLetGo) deps.live.letGo(live)
    else deps.live.remove(live, ended.reason, deps.finish(ended))
  })
  deps.live.add(live)
  session.dispatch({ type: 'opened' })
  if (machine !== null) session.dispatch({ type: 'machine', kind: machine })
  deps.log.info({ tenant_id: tenant.tenant_id, call_sid: callSid, stream_sid: streamSid, direction }, 'call began')
  return session.leg()
}
