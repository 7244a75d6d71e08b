import type { Cancel, Clock } from '../../kernel/clock.ts'
import type { ModelEvent, ModelListener, ModelSession } from '../../platform/realtime/port.ts'
import { CallerAudio } from '../caller-audio.ts'
import { AROUND_PERSON_MS } from '../session-builder-setup.ts'

/** What somebody said, when they began to, and until when they spoke where that is known, in monotonic ms. */
export type Said = { text: string; sinceMs: number; untilMs?: number }
/** A turn whose words have not come. */
type OpenTurn = { sinceMs: number; audioStartMs: number; untilMs?: number }

type Deps = {
  clock: Clock
  /** Opens a session that is asked for nothing and only hears. */
  open(listener: ModelListener): ModelSession
  said(said: Said): void
  /** All is written down that was said before `end`. */
  written(): void
}

const FRAME_MS = 20
/** Silence in µ-law, 20 ms of it. */
const SILENT_FRAME = Buffer.from(Buffer.alloc(160, 0xff).toString('base64'))
/** More silence than `scribeSetup` takes for the end of a turn. */
const LAST_SILENCE_MS = 1_000
/** How long the model may take to notice that something was said last, and then to write it down. */
const NOTICED_MS = 300
const LAST_WORDS_MS = 5_000
/** A session that was lost is opened again, not more often than this. */
const AGAIN_AFTER_MS = 2_000
const MAX_SESSIONS = 5
/** What waits for a model in arrears is not worth more. */
const MAX_BACKLOG_BYTES = 64 * 1024

/**
 * Writes down what a person says who has taken a call over. It is a session of the same model that hears that person alone and is
 * never asked to answer: only the words that it takes down are used.
 */
export class Scribe {
  readonly #deps: Deps
  readonly #open = new Map<string, OpenTurn>()
  /** What is said while no session hears it. */
  readonly #kept = new CallerAudio()
  #session: ModelSession | null = null
  #isReady = false
  #sessions = 0
  #openedMs = 0
  #isEnding = false
  #isHeardOut = false
  #cancelNoticed: Cancel = () => {}
  #cancelGiveUp: Cancel = () => {}

  constructor(deps: Deps) {
    this.#deps = deps
    this.#begin()
  }

  /** One frame of the person, as base64 µ-law. */
  hear(payload: Buffer): void {
    if (this.#isEnding) return
    if (!this.#session) this.#beginAgain()
    if (!this.#isReady) this.#kept.keep(payload)
    else if (this.#session && this.#session.bufferedBytes() <= MAX_BACKLOG_BYTES) this.#session.append(payload)
  }

  /** What was said until now goes first. */
  #ready(): void {
    this.#isReady = true
    const kept = this.#kept.take()
    for (const payload of kept) this.#session?.append(payload)
    if (this.#isEnding && kept.length > 0) this.#fallSilent()
  }

  /** Nothing more is said: tells when the last words are written down, and ends a little later by itself. */
  end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    const { clock } = this.#deps
    if (this.#isReady) this.#fallSilent()
    else this.#cancelNoticed = clock.after(NOTICED_MS, () => this.#heardOut())
    this.#cancelGiveUp = clock.after(LAST_WORDS_MS, () => this.#giveUp())
  }

  /** The model hears a silence behind the last words, and has its time to notice that they were said. */
  #fallSilent(): void {
    for (let sentMs = 0; sentMs < LAST_SILENCE_MS; sentMs += FRAME_MS) this.#session?.append(SILENT_FRAME)
    this.#isHeardOut = false
    this.#cancelNoticed()
    this.#cancelNoticed = this.#deps.clock.after(NOTICED_MS, () => this.#heardOut())
  }

  #heardOut(): void {
    this.#isHeardOut = true
    this.#tellIfWritten()
  }

  /** Whoever waits for them waits no longer. */
  #giveUp(): void {
    const isMissing = !this.#isHeardOut || !this.#isHeard || this.#open.size > 0
    this.close()
    if (isMissing) this.#deps.written()
  }

  /** Gives up what is not written down yet. Again, it changes nothing. */
  close(): void {
    this.#isEnding = true
    this.#cancelNoticed()
    this.#cancelGiveUp()
    this.#session?.close()
    this.#session = null
    this.#kept.take()
  }

  get isOpen(): boolean {
    return this.#session !== null
  }

  #beginAgain(): void {
    const isTooSoon = this.#deps.clock.monotonicMs() - this.#openedMs < AGAIN_AFTER_MS
    if (!isTooSoon && this.#sessions < MAX_SESSIONS) this.#begin()
  }

  #begin(): void {
    this.#sessions += 1
    this.#openedMs = this.#deps.clock.monotonicMs()
    const count = this.#sessions
    const session = this.#deps.open({
      event: (event) => {
        if (count === this.#sessions) this.#take(event)
      },
      audio: () => {},
    })
    this.#session = session
  }

  #take(event: ModelEvent): void {
    switch (event.type) {
      case 'ready':
        return this.#ready()
      case 'speech_started':
        this.#open.set(event.itemId, {
          sinceMs: this.#deps.clock.monotonicMs(),
          audioStartMs: event.audioStartMs,
        })
        return
      case 'speech_stopped':
        return this.#stopped(event)
      case 'caller_transcript':
        return this.#said(event.itemId, event.text)
      case 'caller_transcript_failed':
        return this.#said(event.itemId, '')
      case 'closed':
        this.#session = null
        this.#isReady = false
        this.#open.clear()
        return this.#tellIfWritten()
      default:
        return
    }
  }

  /** By what the model heard: its server tells after a silence, which at the end is sent more quickly than it would pass. */
  #stopped({ itemId, audioEndMs }: Extract<ModelEvent, { type: 'speech_stopped' }>): void {
    const turn = this.#open.get(itemId)
    if (!turn) return
    const spokenMs = Math.max(0, audioEndMs - turn.audioStartMs - AROUND_PERSON_MS)
    turn.untilMs = Math.min(this.#deps.clock.monotonicMs(), turn.sinceMs + spokenMs)
  }

  #said(itemId: string, text: string): void {
    const turn = this.#open.get(itemId)
    const sinceMs = turn?.sinceMs ?? this.#deps.clock.monotonicMs()
    this.#open.delete(itemId)
    this.#deps.said({ text, sinceMs, ...(turn?.untilMs !== undefined && { untilMs: turn.untilMs }) })
    this.#tellIfWritten()
  }

  /** What waits for a session is not heard, unless none will come any more. */
  get #isHeard(): boolean {
    return this.#kept.isEmpty || this.#session === null
  }

  #tellIfWritten(): void {
    if (this.#isHeardOut && this.#isHeard && this.#open.size === 0) this.#deps.written()
  }
}
