import type { Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { CallDirection, SessionId } from '../records/call-values.ts'
import type { LiveEvents } from './live-events.ts'
import type { EndReason, Phase, SessionEvent } from './session/events.ts'

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

/** A call whose stream is being let in. */
export type Beginning = {
  readonly tenantId: TenantId
  readonly callSid: string
  /** The carrier has told meanwhile that the call is over. */
  isOver: boolean
}

/** A call that is here, or was until just now: then with the reason of its end. */
export type CallHere = { tenantId: TenantId; reason: EndReason | null }

/** `isWritten`: whoever asks the database is told of the end from now on, or never. */
type Ended = { tenantId: TenantId; reason: EndReason; untilMs: number; isWritten: boolean }

/** An end is remembered at least this long, and until it is written down. */
const REMEMBER_MS = 60_000

/** The live calls of this process, with those that are beginning and those that ended just now. */
export class LiveSessions {
  readonly #clock: Clock
  readonly #byStream = new Map<string, LiveSession>()
  readonly #byCall = new Map<string, LiveSession>()
  readonly #beginning = new Set<Beginning>()
  readonly #ended = new Map<string, Ended>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#byStream.size
  }

  /** Adds a call. Ask before whether its stream, or another one of the call, is here already. */
  add(session: LiveSession): void {
    this.#byStream.set(session.facts.streamSid, session)
    this.#byCall.set(session.facts.callSid, session)
  }

  /** To be called when nothing of the call is left but its end, which has been written down once `written` settles. */
  remove({ facts }: LiveSession, reason: EndReason, written: Promise<unknown>): void {
    this.#byStream.delete(facts.streamSid)
    this.#byCall.delete(facts.callSid)
    this.#forget()
    const untilMs = this.#clock.monotonicMs() + REMEMBER_MS
    const ended: Ended = { tenantId: facts.tenantId, reason, untilMs, isWritten: false }
    this.#ended.set(facts.callSid, ended)
    const settled = () => {
      ended.isWritten = true
    }
    written.then(settled, settled)
  }

  /** Notes that a stream of the call is being let in, until `begun` is called with the same. */
  beginning(tenantId: TenantId, callSid: string): Beginning {
    const beginning = { tenantId, callSid, isOver: false }
    this.#beginning.add(beginning)
    return beginning
  }

  /** The stream was let in, or was not. */
  begun(beginning: Beginning): void {
    this.#beginning.delete(beginning)
  }

  /** The carrier says that the call is over. False when nothing here has anything of it to end. */
  hungUp(tenantId: TenantId, callSid: string): boolean {
    const session = this.findCall(tenantId, callSid)
    session?.command({ type: 'hung_up' })
    const beginnings = [...this.#beginning].filter((each) => each.tenantId === tenantId && each.callSid === callSid)
    for (const each of beginnings) each.isOver = true
    return session !== null || beginnings.length > 0
  }

  /** What this process knows of a call without asking the database: null for nothing. */
  callHere(callSid: string): CallHere | null {
    const session = this.#byCall.get(callSid)
    if (session) return { tenantId: session.facts.tenantId, reason: null }
    this.#forget()
    return this.#ended.get(callSid) ?? null
  }

  /** Whether this process will write down the end of the tenant's call, or does so now. */
  willEnd(tenantId: TenantId, callSid: string): boolean {
    if (this.findCall(tenantId, callSid)) return true
    const ended = this.#ended.get(callSid)
    if (ended?.tenantId === tenantId && !ended.isWritten) return true
    return [...this.#beginning].some((each) => each.tenantId === tenantId && each.callSid === callSid)
  }

  #forget(): void {
    const nowMs = this.#clock.monotonicMs()
    for (const [callSid, { isWritten, untilMs }] of this.#ended) {
      if (isWritten && untilMs <= nowMs) this.#ended.delete(callSid)
    }
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

  /** Every call that is here, whoever's it is. */
  all(): LiveSession[] {
    return [...this.#byStream.values()]
  }

  /** Ends every call; each finishes its sentence. */
  endAll(): void {
    for (const session of this.#byStream.values()) session.command({ type: 'end', reason: 'shutdown' })
  }
}

function ofTenant(session: LiveSession | undefined, tenantId: TenantId): LiveSession | null {
  return session?.facts.tenantId === tenantId ? session : null
}
