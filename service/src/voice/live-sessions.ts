import type { Clock } from '../kernel/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { CallHolder, NextHolder } from '../records/call-holder.ts'
import type { CallDirection, SessionId } from '../records/call-values.ts'
import type { CallStream, StreamLeg } from './call-streams.ts'
import type { CallLines } from './lines/call-lines.ts'
import type { LiveEvents } from './live-events.ts'
import type { EndReason, Phase, SessionEvent } from './session/events.ts'
import type { HangUpOutcome } from './stream-ends.ts'
import type { CallTransfers } from './transfer/call-transfers.ts'

/** What is known of a live call, for those who look at it. */
export type LiveFacts = {
  streamSid: string
  callSid: string
  sessionId: SessionId
  tenantId: TenantId
  orgId: string | null
  agentName: string
  /** In which the agent speaks, such as `pt-BR`; null where its version does not say so. */
  language: string | null
  callType: CallDirection
  /** The other side's number, as the call log has it. */
  customerPhone: string
  greeting: string
  startedAt: Date
}

/** What others than the call's own sockets may do to it. */
export type LiveCommand = Extract<
  SessionEvent,
  {
    type:
      | 'say'
      | 'whisper'
      | 'end'
      | 'mute'
      | 'unmute'
      | 'release'
      | 'transferred'
      | 'transfer_failed'
      | 'hung_up'
      | 'machine'
      | 'pause_recording'
      | 'stream_promised'
      | 'hand_over'
      | 'kept'
      | 'taken'
  }
>

/** A call whose stream is on this process. */
export type LiveSession = {
  readonly facts: LiveFacts
  readonly events: LiveEvents
  readonly phase: Phase
  readonly recording: 'off' | 'on' | 'paused'
  readonly isMuted: boolean
  /** A person speaks in the agent's place, or did until just now. */
  readonly isTakenOver: boolean
  /** Whether the person's line is gone: whoever is first may have the call. */
  readonly isPersonGone: boolean
  /** The lines of people who listen, or speak with the caller. */
  readonly lines: Pick<CallLines, 'listen' | 'takeOver' | 'personName'>
  readonly transfers: Pick<CallTransfers, 'transfer'>
  /** Somebody else is to have the call: the agent is asked for nothing until nobody takes it. */
  readonly isBeingPutThrough: boolean
  /** Whom it was escalated to; null while nobody has. */
  escalation: { readonly target: string | null } | null
  /** Why it is ending, or ended; null while it goes on. */
  readonly endReason: EndReason | null
  /** That it is over is only taken for granted, because its stream is. */
  readonly isEndGuessed: boolean
  /** Not all is told yet of what was said and done: the caller's last words, what a tool comes to. */
  readonly hasOpenTurns: boolean
  /** What comes of asking its carrier to end the call; null while that was not asked, and of a call without a carrier. */
  readonly hangUp: Promise<HangUpOutcome> | null
  /** Its carrier is about to put it through to somebody else: our stream ends with that, or comes back. */
  readonly isLeaving: boolean
  /** Somebody else has the call: what is here is over, and its end was not that of the call. */
  readonly isLetGo: boolean
  /** What the records know the call by; null for a call that no other stream can take. */
  readonly hold: HeldStream | null
  command(command: LiveCommand): void
}

/** A session as other streams of its call see it. */
export type HeldStream = CallHolder & {
  /**
   * The call is about to change hands: what that holder writes counts for this session's from now on, and the other way round.
   * That lasts until it is known what came of it; where the records do not answer, for good.
   */
  expect(holder: NextHolder): ExpectedHolder
  /** Goes on with that stream; null when the call is ending. */
  attach(stream: CallStream): StreamLeg | null
}

/** What the records have said to a change of hands. */
export type ExpectedHolder = {
  /** They gave the session to that stream. */
  came(streamSid: string): void
  /** They did not, and will not. */
  failed(): void
}

/** A call whose stream is being let in. */
export type Beginning = {
  readonly tenantId: TenantId
  readonly callSid: string
  /** The carrier has told meanwhile that the call is over. */
  isOver: boolean
  /** What the carrier has told meanwhile of the machine that answered; null where it has not. */
  machine: string | null
}

/**
 * A call that is here, or was until just now: `reason` is that of its end, also when that is only on its way. `isGuessed`: the
 * call is taken to be over because its stream is, and whether the records agree is not known yet.
 */
export type CallHere = Pick<LiveFacts, 'tenantId' | 'language'> & {
  reason: EndReason | null
  isGuessed: boolean
  holder: CallHolder | null
}

/** `isWritten`: whoever asks the database is told of the end from now on, or never. */
type Ended = CallHere & { reason: EndReason; untilMs: number; isWritten: boolean }

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
    return this.#byCall.size
  }

  /** Adds a call. Ask before whether its stream, or another one of the call, is here already. */
  add(session: LiveSession): void {
    this.#byStream.set(streamOf(session.facts), session)
    this.#byCall.set(session.facts.callSid, session)
  }

  /** The call has another stream now. Whoever knows it by an earlier one finds it by that, too. */
  renamed(session: LiveSession): void {
    this.#byStream.set(streamOf(session.facts), session)
  }

  /** The call is served elsewhere from now on, and its end is not ours to know. */
  letGo(session: LiveSession): void {
    for (const [stream, other] of this.#byStream) if (other === session) this.#byStream.delete(stream)
    if (this.#byCall.get(session.facts.callSid) === session) this.#byCall.delete(session.facts.callSid)
  }

  /**
   * To be called when nothing of the call is left but its end, which has been written down once `written` settles. When that is
   * with false it was not that of the call, of which nothing is known here from then on.
   */
  remove(session: LiveSession, reason: EndReason, written: Promise<boolean>): void {
    const { facts } = session
    this.letGo(session)
    this.#forget()
    const untilMs = this.#clock.monotonicMs() + REMEMBER_MS
    const { isEndGuessed: isGuessed, hold: holder } = session
    const { tenantId, language } = facts
    const ended: Ended = { tenantId, language, reason, isGuessed, holder, untilMs, isWritten: false }
    this.#ended.set(facts.callSid, ended)
    const settled = (isEnd: boolean) => {
      Object.assign(ended, { isWritten: true, isGuessed: false })
      if (!isEnd && this.#ended.get(facts.callSid) === ended) this.#ended.delete(facts.callSid)
    }
    // One that could not be written down was the end all the same.
    written.then(settled, () => settled(true))
  }

  /** What is here of the call in this epoch, or was, is not the end of it: others have it, and what becomes of it they know. */
  forget(tenantId: TenantId, callSid: string, epoch: number): void {
    const session = this.findCall(tenantId, callSid)
    if (session?.hold?.epoch === epoch) session.command({ type: 'taken' })
    const ended = this.#ended.get(callSid)
    if (ended?.tenantId === tenantId && ended.holder?.epoch === epoch) this.#ended.delete(callSid)
  }

  /** Notes that a stream of the call is being let in, until `begun` is called with the same. */
  beginning(tenantId: TenantId, callSid: string): Beginning {
    const beginning = { tenantId, callSid, isOver: false, machine: null }
    this.#beginning.add(beginning)
    return beginning
  }

  /** The stream was let in, or was not. */
  begun(beginning: Beginning): void {
    this.#beginning.delete(beginning)
  }

  /** The carrier says that the call is over, or is told so: `isLost`. False when nothing here has anything of it to end. */
  hungUp(tenantId: TenantId, callSid: string, isLost = false): boolean {
    const session = this.findCall(tenantId, callSid)
    session?.command({ type: 'hung_up', isLost })
    const ended = this.#ended.get(callSid)
    if (ended?.tenantId === tenantId) ended.isGuessed = false
    const beginnings = [...this.#beginning].filter((each) => each.tenantId === tenantId && each.callSid === callSid)
    for (const each of beginnings) each.isOver = true
    return session !== null || beginnings.length > 0
  }

  /** The carrier says that a machine answered the call, in its own word; it counts for nothing where nothing of the call is here. */
  answeredByMachine(tenantId: TenantId, callSid: string, kind: string): void {
    this.findCall(tenantId, callSid)?.command({ type: 'machine', kind })
    for (const each of this.#beginning) {
      if (each.tenantId === tenantId && each.callSid === callSid) each.machine = kind
    }
  }

  /**
   * What this process knows of a call without asking the database: null for nothing. What `isGuessed` is of no use to a carrier
   * that asks: it has a call, and the records know whose that is.
   */
  callHere(callSid: string): CallHere | null {
    const session = this.#byCall.get(callSid)
    if (session) {
      const { facts, endReason: reason, isEndGuessed: isGuessed, hold: holder } = session
      return { tenantId: facts.tenantId, language: facts.language, reason, isGuessed, holder }
    }
    this.#forget()
    return this.#ended.get(callSid) ?? null
  }

  /**
   * Stops serving the tenant's call here without ending it: the agent falls silent, what was said is flushed, and with the end
   * of its stream the session is gone, and writes no end. The carrier is to be told to ask what comes next for it. If nobody
   * has taken the stream from us within 15 s the session goes on.
   *
   * @returns false for a call that is not here, is ending, or has no carrier.
   */
  handOver(tenantId: TenantId, callSid: string): boolean {
    const session = this.findCall(tenantId, callSid)
    const isOpen = session?.phase === 'waiting' || session?.phase === 'talking' || session?.phase === 'detached'
    if (!session?.hold || !isOpen) return false
    session.command({ type: 'hand_over' })
    return true
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

  /** Whether the tenant has a call with this stream: no second one of it may take its name. Pages name theirs themselves. */
  hasStream(tenantId: TenantId, streamSid: string): boolean {
    return this.#byStream.has(streamOf({ tenantId, streamSid }))
  }

  /** The tenant's call with this stream, or null. */
  find(tenantId: TenantId, streamSid: string): LiveSession | null {
    return this.#byStream.get(streamOf({ tenantId, streamSid })) ?? null
  }

  /** The tenant's call of this id, or null. */
  findCall(tenantId: TenantId, callSid: string): LiveSession | null {
    return ofTenant(this.#byCall.get(callSid), tenantId)
  }

  /** The tenant's calls, in no order. */
  list(tenantId: TenantId): LiveSession[] {
    return [...this.#byCall.values()].filter(({ facts }) => facts.tenantId === tenantId)
  }

  /** Every call that is here, whoever's it is. */
  all(): LiveSession[] {
    return [...this.#byCall.values()]
  }

  /** Ends every call; each finishes its sentence. */
  endAll(): void {
    for (const session of this.#byCall.values()) session.command({ type: 'end', reason: 'shutdown' })
  }
}

function streamOf({ tenantId, streamSid }: Pick<LiveFacts, 'tenantId' | 'streamSid'>): string {
  return `${tenantId} ${streamSid}`
}

function ofTenant(session: LiveSession | undefined, tenantId: TenantId): LiveSession | null {
  return session?.facts.tenantId === tenantId ? session : null
}
