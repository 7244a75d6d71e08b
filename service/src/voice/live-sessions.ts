import type { TenantId } from '../kernel/ids.ts'
import type { CallDirection, SessionId } from '../records/call-values.ts'
import type { LiveEvents } from './live-events.ts'
import type { Phase, SessionEvent } from './session/events.ts'

/** What is known of a live call, for those who look at it. */
export type LiveFacts = {
  streamSid: string
  callSid: string
  sessionId: SessionId
  tenantId: TenantId
  orgId: string | null
  agentName: string
  callType: CallDirection
  /** The other side's number, as the carrier sent it. */
  customerPhone: string
  greeting: string
  startedAt: Date
}

/** What others than the call's own sockets may do to it. */
export type LiveCommand = Extract<SessionEvent, { type: 'say' | 'whisper' | 'end' | 'hung_up' }>

/** A call whose stream is on this process. */
export type LiveSession = {
  readonly facts: LiveFacts
  readonly events: LiveEvents
  readonly phase: Phase
  command(command: LiveCommand): void
}

/** The live calls of this process. */
export class LiveSessions {
  readonly #byStream = new Map<string, LiveSession>()
  readonly #byCall = new Map<string, LiveSession>()

  get size(): number {
    return this.#byStream.size
  }

  /** Adds a call. Ask before whether its stream, or another one of the call, is here already. */
  add(session: LiveSession): void {
    this.#byStream.set(session.facts.streamSid, session)
    this.#byCall.set(session.facts.callSid, session)
  }

  /** To be called when nothing of the call is left. */
  remove({ facts }: LiveSession): void {
    this.#byStream.delete(facts.streamSid)
    this.#byCall.delete(facts.callSid)
  }

  /** Whether there is a call with this stream, whoever's it is: no second one may take its name. */
  hasStream(streamSid: string): boolean {
    return this.#byStream.has(streamSid)
  }

  /** The tenant's call with this stream, or null. */
  find(tenantId: TenantId, streamSid: string): LiveSession | null {
    return ofTenant(this.#byStream.get(streamSid), tenantId)
  }

  /** The tenant's call of this id, or null. */
  findCall(tenantId: TenantId, callSid: string): LiveSession | null {
    return ofTenant(this.#byCall.get(callSid), tenantId)
  }

  /** The tenant's calls, newest first. */
  list(tenantId: TenantId): LiveSession[] {
    const sessions = [...this.#byStream.values()].filter(({ facts }) => facts.tenantId === tenantId)
    return sessions.sort((a, b) => b.facts.startedAt.getTime() - a.facts.startedAt.getTime())
  }

  /** Ends every call; each finishes its sentence. */
  endAll(): void {
    for (const session of this.#byStream.values()) session.command({ type: 'end', reason: 'shutdown' })
  }
}

function ofTenant(session: LiveSession | undefined, tenantId: TenantId): LiveSession | null {
  return session?.facts.tenantId === tenantId ? session : null
}
