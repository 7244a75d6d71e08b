import { channel } from 'node:diagnostics_channel'
import { AnsweringEar } from './answer/answering-ear.ts'
import { doEffect } from './call-effects.ts'
import { type CallParts, closeParts, heldBy, makeCallParts, wholeUs } from './call-parts.ts'
import type { CallStream, StreamLeg } from './call-streams.ts'
import type { CallLines } from './lines/call-lines.ts'
import type { MediaPath } from './media-path.ts'
import type { EndReason, SessionEffect, SessionEvent } from './session/events.ts'
import { isPartyRead } from './session/party.ts'
import { reduce } from './session/reduce.ts'
import { isOthers, newSession, type SessionState } from './session/state.ts'
import type { SessionDeps } from './session-deps.ts'
import type { CallTransfers } from './transfer/call-transfers.ts'

/**
 * Told of each session that has finished, as `{ session }`, for whoever watches that none keeps anything. Without a listener it
 * costs nothing.
 */
const FINISHED = channel('parley.session.finished')

/** What comes in a tenth of a second, many times over: a model that floods its call is looked at in pieces, for all of it at once holds up all calls. */
const MAX_PUT_OFF = 1_000

type Reduced = [SessionState, SessionEffect[]]
/** `atUs`: when it happened, monotonic. */
type Happened = { event: SessionEvent; atUs: number }

/**
 * Runs one call: owns its sockets and timers, feeds what happens to the reducer and does what comes out of it.
 *
 * All effects of an event are done before the next event is looked at; an event that arises meanwhile waits its turn.
 */
export class CallSession {
  readonly #deps: SessionDeps
  readonly #parts: CallParts
  /** One of the parts: every frame asks for it. */
  readonly #media: MediaPath
  readonly #waiting: Happened[] = []
  /** Whether it stands among those that `PutOff` has look soon; noted there. */
  isPutOff = false
  #isBusy = false
  /** When what is looked at now has happened. */
  #atUs: number
  /** Null once it is known who answered, and where nobody asks. */
  #ear: AnsweringEar | null = null
  #state: SessionState

  constructor(deps: SessionDeps) {
    this.#deps = deps
    const startUs = wholeUs(deps.clock)
    this.#atUs = startUs
    const { plan, resumption = null, waitedMs = 0, version = '' } = deps
    this.#state = newSession(plan, startUs / 1_000, { resumption, waitedMs })
    deps.eventLog?.begin({ v: 1, version, startUs, waitedMs, plan, resumption })
    this.#parts = makeCallParts({
      deps,
      dispatch: (event) => this.dispatch(event),
      state: () => this.state,
      lateMs: () => this.#lateMs(),
      catchUp: () => this.catchUp(),
      guarded: (work) => this.#guarded(work),
      finish: (reason) => this.#finish(reason),
    })
    this.#media = this.#parts.media
  }

  get state(): SessionState {
    this.catchUp()
    return this.#state
  }

  /** The lines of people into the call. */
  get lines(): CallLines {
    return this.#parts.lines
  }

  get transfers(): CallTransfers {
    return this.#parts.transfers
  }

  /** The answer that is being made may call more tools than it has: resolves once it cannot, after two seconds at the latest. */
  toolsCalled(): Promise<void> {
    return this.#parts.calledTools.areAll()
  }

  get recording(): 'off' | 'on' | 'paused' {
    if (!this.#deps.recorder) return 'off'
    return this.state.isRecordingPaused ? 'paused' : 'on'
  }

  /** What went past on the fast path, for the one who looks after all calls. */
  get media(): Pick<MediaPath, 'framesIn' | 'shedFrames' | 'lateDeltas'> {
    return this.#media
  }

  /** What it still has of the process: nothing, once it has finished. */
  get held(): string[] {
    return [...heldBy(this.#parts), ...this.#waiting.map(({ event }) => `event ${event.type}`)]
  }

  /** The fast path in: one frame of the caller. */
  fromCaller(payload: Buffer): void {
    this.#media.fromCaller(payload)
  }

  /** What the stream that the session has now may say to it. */
  leg(): StreamLeg {
    return this.#parts.streams.legOf(this)
  }

  /** Whether another stream can have the call: not when it is ending. */
  get isAttachable(): boolean {
    const { phase } = this.state
    return phase === 'waiting' || phase === 'talking' || phase === 'detached'
  }

  /** Goes on with another stream; one that still stands is closed. @throws Error unless `isAttachable`. */
  attach(stream: CallStream): StreamLeg {
    if (!this.isAttachable) throw new Error('the call is ending')
    this.#parts.streams.offer(stream)
    this.dispatch({ type: 'attached' })
    return this.leg()
  }

  /**
   * Something happened. Returns when all that follows from it at once is done; only of what nobody waits for that is done with what
   * comes next, or with what all sessions put off, about a tenth of a second later.
   */
  dispatch(event: SessionEvent): void {
    this.#waiting.push({ event, atUs: wholeUs(this.#deps.clock) })
    if (this.#isBusy) return
    if (this.#waiting.length < MAX_PUT_OFF && this.#mayPutOff(event)) this.#deps.putOff?.add(this)
    else this.catchUp()
  }

  /** Looks at all that happened, also at what was put off. */
  catchUp(): void {
    if (this.#isBusy) return
    this.#isBusy = true
    try {
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) this.#step(next)
    } finally {
      this.#isBusy = false
    }
  }

  /**
   * Most of what happens is audio on its way: that more of it was sent or heard, and what it says. Its beginning is waited for, and its
   * end where something else is to follow it: another model session, the rest of a sentence, somebody else.
   */
  #mayPutOff(event: SessionEvent): boolean {
    const { phase, renewalDue, stopped, transfer } = this.#state
    if (!this.#deps.putOff || this.#ear !== null || phase !== 'talking') return false
    if (renewalDue || stopped !== null || transfer !== null) return false
    if (event.type === 'sent') return event.arrivedAtMs === undefined
    return event.type === 'mark' || (event.type === 'model' && event.event.type === 'agent_transcript')
  }

  /** By how many whole ms what is looked at now was put off. */
  #lateMs(): number {
    return Math.floor((wholeUs(this.#deps.clock) - this.#atUs) / 1_000)
  }

  /** One fault does not take the call down: a rejected event changes nothing, and every effect is tried. */
  #step({ event, atUs }: Happened): void {
    this.#atUs = atUs
    const effects = this.#guarded(() => this.#reduce(event, atUs)) ?? []
    for (const effect of effects) this.#guarded(() => doEffect(this.#parts, effect))
    const { speech } = this.#state
    this.#media.gate(isOthers(this.#state))
    this.#media.meter(speech !== null && speech.stoppedAtMs === null)
    this.#parts.calledTools.follow()
    this.#guarded(() => this.#listen(event))
  }

  /** To who answered, while it is not known who that is. */
  #listen(event: SessionEvent): void {
    if (isPartyRead(this.#state)) {
      this.#ear ??= new AnsweringEar((heard) => this.dispatch(heard))
      this.#media.readBy(this.#ear.line)
      this.#ear.follow(event)
    } else if (this.#ear !== null) {
      this.#ear = null
      this.#media.readBy(null)
    }
  }

  #reduce(event: SessionEvent, atUs: number): SessionEffect[] {
    const nowMs = atUs / 1_000
    const [state, effects] = this.#logged(atUs, event, () => reduce(this.#state, event, nowMs))
    this.#deps.recorder?.follow(this.#state, state)
    this.#media.follow(this.#state.playback, state.playback, nowMs)
    this.#state = state
    return effects
  }

  #logged(atUs: number, event: SessionEvent, run: () => Reduced): Reduced {
    const { eventLog } = this.#deps
    if (!eventLog) return run()
    try {
      const reduced = run()
      eventLog.step(atUs, event, reduced[1])
      return reduced
    } catch (error) {
      eventLog.step(atUs, event, null)
      throw error
    }
  }

  #guarded<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      this.#deps.failed(error)
      return undefined
    }
  }

  #finish(reason: EndReason): void {
    this.#deps.putOff?.remove(this)
    closeParts(this.#parts, reason)
    this.#deps.finished(reason, this.#state)
    if (FINISHED.hasSubscribers) FINISHED.publish({ session: this })
  }
}
