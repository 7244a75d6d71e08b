import type { Cancel, Clock } from '../../../kernel/clock.ts'
import { base64End, decodedBytes } from '../../json-bytes.ts'
import type { Log } from '../../log.ts'
import type { ModelCommand, ModelEvent, ModelListener, ModelSession } from '../port.ts'
import { AUDIO, DeltaReader, WORDS } from './audio-delta.ts'
import { pieceChars } from './audio-pieces.ts'
import { commandFrame } from './commands.ts'
import { type Ending, OTHER_AUDIO, SETUP_TIMEOUT } from './endings.ts'
import { cutWords, isSilent, readEvent } from './events.ts'
import { errorFault, type ProviderError } from './faults.ts'
import { APPEND_HEAD, APPEND_TAIL, AUDIO_DELTA, eventType, WORDS_DELTA } from './frames.ts'
import { id, type Json, MalformedEvent, object, parseEvent, text } from './members.ts'
import { type ModelAddress, ModelSocket } from './model-socket.ts'
import { Oddities } from './oddities.ts'
import { providerError } from './provider-error.ts'
import { isOfOtherAudio } from './session-update.ts'
import type { SetupFrames } from './setup-frames.ts'
import { SpokenAudio } from './spoken-audio.ts'

/** What a session is opened with. */
export type SessionOptions = {
  address: ModelAddress
  setup: SetupFrames
  clock: Clock
  log: Log | null
  /** Takes secrets out of the provider's words. */
  redact(message: string): string
}

/** How long the server has to set the session up once the connection is open. */
const SETUP_MS = 5_000
/** Commands that may wait for the session to be ready; later ones are dropped. */
const MAX_QUEUED = 100

/** The one refusal that only a request for an answer can cause: it is the last one's even when the server names none. */
const ALREADY_ACTIVE = 'conversation_already_has_active_response'

/**
 * One session with an OpenAI Realtime server, as it is generally available.
 *
 * opening (until `session.created`) → configuring (until `session.updated`) → ready → over. Nothing comes out of it once
 * it is over, and nothing goes out.
 */
export class OpenaiSession implements ModelSession {
  readonly #options: SessionOptions
  readonly #listener: ModelListener
  readonly #socket: ModelSocket
  readonly #deltas = new DeltaReader()
  readonly #spoken = new SpokenAudio()
  readonly #oddities = new Oddities()
  #phase: 'opening' | 'configuring' | 'ready' | 'over' = 'opening'
  #queue: Buffer[] = []
  #cancelSetup: Cancel = () => {}
  #lastRequestId: string | null = null
  /** A fatal error that was told before the connection closed: it says why better than the close does. */
  #fatal: Ending | null = null

  constructor(options: SessionOptions, listener: ModelListener) {
    this.#options = options
    this.#listener = listener
    this.#socket = new ModelSocket(options.address, options.clock, {
      opened: () => this.#opened(),
      message: (frame, isBinary) => this.#received(frame, isBinary),
      ended: (ending, resetMs) => this.#ended(ending, resetMs),
    })
  }

  append(payload: Buffer): void {
    if (this.#phase === 'ready') this.#socket.send([APPEND_HEAD, payload, APPEND_TAIL])
  }

  send(command: ModelCommand): void {
    if (this.#phase === 'over') return
    if (command.type === 'respond') this.#lastRequestId = command.requestId
    const frame = commandFrame(command, this.#options.setup.instructions)
    if (this.#phase === 'ready') this.#socket.send([frame])
    else if (this.#queue.length < MAX_QUEUED) this.#queue.push(frame)
    else this.#oddities.countDropped()
  }

  bufferedBytes(): number {
    return this.#socket.bufferedBytes()
  }

  close(): void {
    if (this.#phase === 'over') return
    this.#finish()
    this.#socket.close()
  }

  #opened(): void {
    this.#cancelSetup = this.#options.clock.after(SETUP_MS, () => this.#fail(SETUP_TIMEOUT))
  }

  #received(frame: Buffer, isBinary: boolean): void {
    if (isBinary) return this.#oddities.countMalformed()
    const type = eventType(frame)
    if (type === AUDIO_DELTA || type === null) {
      const payload = this.#deltas.read(frame, AUDIO)
      if (payload) return this.#audio(this.#deltas.responseId, this.#deltas.itemId, payload)
    } else if (type === WORDS_DELTA) {
      const words = this.#deltas.read(frame, WORDS)
      if (words) return this.#words(cutWords(words.toString('latin1')))
    } else if (isSilent(type)) return
    this.#receivedSlowly(frame)
  }

  #words(text: string): void {
    const { responseId, itemId } = this.#deltas
    this.#tell({ type: 'agent_transcript', responseId, itemId, text, final: false })
  }

  #receivedSlowly(frame: Buffer): void {
    try {
      this.#apply(parseEvent(frame))
    } catch (error) {
      if (!(error instanceof MalformedEvent)) throw error
      this.#oddities.countMalformed()
    }
  }

  #apply(fields: Json): void {
    const type = text(fields, 'type')
    if (type === AUDIO_DELTA) return this.#unusualAudio(fields)
    if (type === 'session.created') return this.#configure()
    if (type === 'session.updated') return this.#updated(object(fields, 'session'))
    if (type === 'error') return this.#refused(fields)
    const event = readEvent(type, fields)
    if (event) this.#tell(event)
    else if (event === undefined) this.#oddities.countUnknown(type)
  }

  #configure(): void {
    if (this.#phase !== 'opening') return
    this.#phase = 'configuring'
    this.#socket.send([this.#options.setup.frame()])
  }

  #updated(session: Json): void {
    if (this.#phase === 'configuring' && isOfOtherAudio(session)) return this.#fail(OTHER_AUDIO)
    this.#ready()
  }

  #ready(): void {
    if (this.#phase !== 'configuring') return
    this.#cancelSetup()
    this.#phase = 'ready'
    for (const frame of this.#queue.splice(0)) this.#socket.send([frame])
    this.#tell({ type: 'ready' })
  }

  #unusualAudio(fields: Json): void {
    const payload = Buffer.from(text(fields, 'delta'))
    if (base64End(payload, 0) !== payload.length) throw new MalformedEvent('audio is no base64')
    this.#audio(id(fields, 'response_id'), id(fields, 'item_id'), payload)
  }

  #audio(responseId: string, itemId: string, payload: Buffer): void {
    if (payload.length === 0) return
    this.#spoken.add(responseId, decodedBytes(payload))
    const chars = pieceChars(payload)
    if (chars === payload.length) return this.#listener.audio(responseId, itemId, payload)
    for (let at = 0; at < payload.length && this.#phase !== 'over'; at += chars) {
      this.#listener.audio(responseId, itemId, payload.subarray(at, at + chars))
    }
  }

  #tell(event: ModelEvent): void {
    if (event.type === 'response_done') event.usage.audioSeconds = this.#spoken.takeSeconds(event.responseId)
    this.#listener.event(event)
  }

  #refused(fields: Json): void {
    const error = providerError(fields)
    if (this.#phase === 'configuring' && this.#configuredWithout(error)) return
    const { code } = error
    const message = this.#options.redact(error.message)
    const fault = errorFault(error, this.#phase === 'ready')
    if (this.#phase !== 'ready' || fault === 'expired') return this.#fail({ code, message, fault })
    if (fault === 'fatal') this.#fatal = { code, message, fault }
    const requestId = error.eventId ?? (code === ALREADY_ACTIVE ? this.#lastRequestId : null)
    this.#tell({ type: 'refused', requestId, code, message, fault })
  }

  /**
   * A tool that the server does not take costs the call that tool, and not its agent; so does who is to write down what the caller says, and how
   * much the model is to reason.
   */
  #configuredWithout(error: ProviderError): boolean {
    const { setup, log, redact } = this.#options
    const leftOut = setup.leaveOut(error)
    if (leftOut === null) return false
    const { code } = error
    const message = redact(error.message)
    log?.warn({ ...leftOut, code, message }, 'a model refused a part of its settings: the session goes without it')
    this.#tell({ type: 'refused', requestId: null, code, message, fault: 'benign' })
    if (this.#phase === 'configuring') this.#socket.send([setup.frame()])
    return true
  }

  /** Ends the session from here: the server will be of no use any more. */
  #fail(ending: Ending): void {
    this.#socket.abandon()
    this.#ended(ending, null)
  }

  #ended(ending: Ending, resetMs: number | null): void {
    if (resetMs !== null) this.#listener.event({ type: 'rate_limited', resetMs })
    // The listener may have closed the session there and then.
    if (this.#phase === 'over') return
    this.#finish()
    this.#listener.event({ type: 'closed', ...(this.#fatal ?? ending) })
  }

  #finish(): void {
    this.#phase = 'over'
    this.#cancelSetup()
    this.#queue = []
    this.#oddities.logTo(this.#options.log)
  }
}
