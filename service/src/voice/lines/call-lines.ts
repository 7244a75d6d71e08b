import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { ModelListener, ModelSession } from '../../platform/realtime/port.ts'
import { mulawBytes } from '../caller-audio.ts'
import { loudBytes } from '../loudness.ts'
import type { AudioEars, MediaPath } from '../media-path.ts'
import { BYTES_PER_MS } from '../playback.ts'
import type { SessionEvent } from '../session/events.ts'
import { CallAudio } from './call-audio.ts'
import type { Line, LineEnd, LineListener } from './line.ts'
import { Scribe } from './scribe.ts'

type Deps = {
  clock: Clock
  media: Pick<MediaPath, 'hearBy' | 'play'>
  callSid: string
  dispatch(event: SessionEvent): void
  /** How much of what was sent the caller has still to hear, in ms. */
  leftMs(): number
  /** Opens a session of the model that hears the person who has the call; null where no model writes down what it hears. */
  openScribe: ((listener: ModelListener) => ModelSession) | null
}

const MAX_LISTENERS = 20
/** A person speaks as fast as time passes: what would be heard later than this is not sent. */
const MAX_AHEAD_MS = 1_000
/** What the network has held up comes at once, and what comes behind it at the speed at which it is heard would be as late for good. */
const LATE_MS = 200
/** Of a line that is late for so long the pauses are left out, until it is not. */
const LATE_FOR_MS = 1_000

/** The lines of people into one call: of those who listen, and of one who speaks with the caller in the agent's place. */
export class CallLines implements AudioEars {
  readonly #deps: Deps
  readonly #audio: CallAudio
  readonly #listeners = new Set<LineListener>()
  /** Whose line was offered, and whose it is that has the call, or had it until just now. */
  #offered: LineListener | null = null
  #person: LineListener | null = null
  /** Who that is, in their own words or those of their login; null when nobody said. */
  #personName: string | null = null
  /** What the person's audio is called; null while the caller does not hear it. */
  #personId: string | null = null
  #personBytes = 0
  #lateSinceMs: number | null = null
  #scribe: Scribe | null = null
  /** That of who had the call just before, which still writes down their last words. */
  #earlier: Scribe | null = null
  #isClosed = false

  constructor(deps: Deps) {
    this.#deps = deps
    this.#audio = new CallAudio(deps.clock)
  }

  /** What they still have of the process. */
  get held(): string[] {
    const scribe = this.#scribe?.isOpen || this.#earlier?.isOpen ? ['scribe'] : []
    return [...(this.#person ? ['person'] : []), ...(this.#listeners.size > 0 ? ['listeners'] : []), ...scribe]
  }

  /** Who has the call, as far as they said; null when nobody has it. */
  get personName(): string | null {
    return this.#person === null ? null : this.#personName
  }

  /** Opens a line to listen. @throws AppError `unavailable` when so many listen already. */
  listen(listener: LineListener): Line {
    if (this.#listeners.size >= MAX_LISTENERS) throw new AppError('unavailable', 'Too many people listen to this call.')
    this.#listeners.add(listener)
    const stop = this.#audio.add((batch) => listener.audio(batch))
    this.#attend()
    return {
      callSid: this.#deps.callSid,
      speak: () => {},
      close: () => {
        stop()
        this.#listeners.delete(listener)
        this.#attend()
      },
    }
  }

  /** Gives somebody the call. @throws AppError `conflict` when they cannot have it now. */
  takeOver(listener: LineListener, name: string | null): Line {
    this.#offered = listener
    this.#deps.dispatch({ type: 'take_over' })
    this.#offered = null
    if (this.#person !== listener) throw cannotBeTaken()
    this.#personName = name
    return {
      callSid: this.#deps.callSid,
      speak: (payload) => this.#speak(listener, payload),
      close: (how) => {
        if (this.#person !== listener) return
        this.#person = null
        this.#deps.dispatch({ type: how === 'lost' ? 'person_lost' : 'release' })
      },
    }
  }

  #speak(listener: LineListener, payload: Buffer): void {
    // First: the session may find out by it who has the call.
    const aheadMs = this.#deps.leftMs()
    if (this.#person !== listener || this.#personId === null || aheadMs > MAX_AHEAD_MS) return
    this.#scribe?.hear(payload)
    if (this.#isLate(aheadMs) && loudBytes(payload) === 0) return
    this.#deps.media.play(this.#personId, payload)
  }

  #isLate(aheadMs: number): boolean {
    const nowMs = this.#deps.clock.monotonicMs()
    this.#lateSinceMs = aheadMs <= LATE_MS ? null : (this.#lateSinceMs ?? nowMs)
    return this.#lateSinceMs !== null && nowMs - this.#lateSinceMs >= LATE_FOR_MS
  }

  /** The caller hears the person whose line was offered. */
  connect(id: string): void {
    this.#person = this.#offered
    this.#personId = id
    this.#personBytes = 0
    this.#lateSinceMs = null
    this.#attend()
    const { openScribe, clock, dispatch } = this.#deps
    this.#earlier?.close()
    this.#earlier = this.#scribe
    const scribe =
      openScribe &&
      new Scribe({
        clock,
        open: openScribe,
        said: (said) => dispatch({ type: 'person_said', ...said }),
        written: () => {
          // Nobody waits any more for what was said before somebody else had the call.
          if (this.#scribe === scribe) dispatch({ type: 'person_written' })
        },
      })
    this.#scribe = scribe
  }

  /** The caller hears the person no more; what they said last is written down. */
  silence(): void {
    this.#personId = null
    this.#letPersonGo('released')
    this.#writeLastWords()
  }

  /** The person's line ends: with the call, or because that goes on elsewhere. What they said last is still written down. */
  dismiss(why: 'ended' | 'broken'): void {
    this.#personId = null
    this.#letPersonGo(why)
    this.#writeLastWords()
  }

  #writeLastWords(): void {
    if (this.#scribe) this.#scribe.end()
    else this.#deps.dispatch({ type: 'person_written' })
  }

  #closeScribes(): void {
    this.#scribe?.close()
    this.#scribe = null
    this.#earlier?.close()
    this.#earlier = null
  }

  #letPersonGo(why: LineEnd): void {
    const person = this.#person
    this.#person = null
    this.#attend()
    person?.over(why)
  }

  /** The call is over for everybody, or goes on elsewhere. */
  close(why: 'ended' | 'broken' = 'ended'): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#personId = null
    this.#letPersonGo(why)
    this.#closeScribes()
    this.#audio.close()
    const listeners = [...this.#listeners]
    this.#listeners.clear()
    for (const listener of listeners) listener.over(why)
  }

  /** What goes past is heard only while there is somebody to hear it. */
  #attend(): void {
    const isNeeded = this.#person !== null || !this.#audio.isIdle
    this.#deps.media.hearBy(isNeeded ? this : null)
  }

  caller(payload: Buffer): void {
    if (!this.#audio.isIdle) this.#audio.caller(payload)
    if (this.#person === null) return
    this.#person.audio({
      atMs: Math.floor(this.#personBytes / BYTES_PER_MS),
      inbound: payload.toString('latin1'),
      outbound: '',
    })
    this.#personBytes += mulawBytes(payload)
  }

  agent(payload: Buffer): void {
    if (!this.#audio.isIdle) this.#audio.agent(payload)
  }

  cleared(): void {
    this.#audio.cleared()
  }
}

/** Why nobody can take a call over. */
export function cannotBeTaken(): AppError {
  return new AppError(
    'conflict',
    'The call cannot be taken over now: it is ending or being put through, its stream is lost, or somebody has it.',
  )
}
