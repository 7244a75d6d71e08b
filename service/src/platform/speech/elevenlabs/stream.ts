import type { Cancel, Clock } from '../../../kernel/clock.ts'
import type { WebSocketAddress } from '../../websocket/connect.ts'
import type { VoiceFault, VoiceListener, VoiceStream } from '../streamed-port.ts'
import { type Heard, readMessage } from './messages.ts'
import { TextInWords } from './text-in-words.ts'
import { isUnfitReason, isUnfitStatus } from './unfit.ts'
import { VoiceSocket } from './voice-socket.ts'

type Options = {
  address: WebSocketAddress
  clock: Clock
  speed: number
  /** Takes secrets out of the provider's words. */
  redact(message: string): string
}

/** Text that is to be spoken, or so much of it that some of it must be, and no audio for so long: it is lost. */
const SILENT_MS = 2_000
/** More characters than the provider waits for before it speaks. */
const DUE_CHARS = 200
/**
 * It speaks once it has so many characters, the next time once it has so many more: the first words early, the later ones, for which
 * there is time, in better sentences. `auto_mode` is for whole sentences, and words are given to it as they come.
 */
const SCHEDULE = [50, 90, 120, 150]
/** What the provider may leave out of a text as nothing to be said: signs, an emoji. */
const LEFT_OUT_CHARS = 20
/** What the provider tells before it closes a stream that was given no text for as long as it was asked to wait. */
const WAITED_IN_VAIN = /^input_timeout_exceeded\b/
/** The provider's bounds. */
const MIN_SPEED = 0.7
const MAX_SPEED = 1.2
const BYTES_PER_MS = 8
/** 498 ms in whole groups of base64. */
const PIECE_CHARS = 5_312
const MAX_REASON_CHARS = 200

/**
 * One text on its way to the provider, and its audio on the way back: connecting → open → over. A connection of its own for each
 * text, so that nothing of one that was cut comes into the next.
 */
export class ElevenlabsStream implements VoiceStream {
  readonly #options: Options
  readonly #listener: VoiceListener
  readonly #socket: VoiceSocket
  readonly #words = new TextInWords()
  /** What waits for the connection; null once that is there. */
  #waiting: object[] | null = []
  #isGiven = false
  #givenChars = 0
  #spokenChars = 0
  #audioBytes = 0
  #isFlushed = false
  #isEnded = false
  #isOver = false
  #cancelTimer: Cancel | null = null

  constructor(options: Options, listener: VoiceListener) {
    this.#options = options
    this.#listener = listener
    this.#socket = new VoiceSocket(options.address, options.clock, {
      opened: () => this.#opened(),
      message: (bytes) => this.#received(bytes),
      ended: (reason, handshake) => this.#ended(reason, handshake),
    })
  }

  say(text: string): void {
    if (this.#isEnded) return
    this.#isGiven = true
    this.#isFlushed = false
    this.#give(this.#words.add(text), {})
    this.#watch()
  }

  flush(): void {
    if (this.#isEnded) return
    this.#isFlushed = true
    this.#give(this.#words.rest(), { flush: true })
    this.#watch()
  }

  end(): void {
    if (this.#isEnded) return
    this.#give(this.#words.rest(), {})
    this.#isEnded = true
    this.#send({ text: '' })
    this.#watch()
  }

  close(): void {
    this.#letGo()
    this.#socket.close()
  }

  #give(text: string, how: object): void {
    this.#givenChars += letters(text)
    if (text !== '' || 'flush' in how) this.#send({ text: text === '' ? ' ' : text, ...how })
  }

  #send(message: object): void {
    if (this.#isOver) return
    if (this.#waiting) this.#waiting.push(message)
    else this.#socket.send(message)
  }

  #opened(): void {
    const waiting = this.#waiting ?? []
    this.#waiting = null
    const speed = Math.min(MAX_SPEED, Math.max(MIN_SPEED, this.#options.speed))
    const settings = speed === 1 ? {} : { voice_settings: { speed } }
    this.#send({ text: ' ', ...settings, generation_config: { chunk_length_schedule: SCHEDULE } })
    for (const message of waiting) this.#send(message)
  }

  #received(bytes: Buffer): void {
    if (this.#isOver) return
    let heard: Heard
    try {
      heard = readMessage(bytes)
    } catch {
      return this.#fail('refused', 'a message that is not understood')
    }
    if (heard.error !== null) return this.#fail(this.#whyRefused(heard.error), heard.error)
    if (heard.audio !== '') this.#heard(heard)
    if (heard.isFinal && !this.#isOver) this.#final()
  }

  #heard({ audio, text, endsMs }: Heard): void {
    const fromMs = this.#audioBytes / BYTES_PER_MS
    this.#spokenChars += letters(text)
    if (text !== '') {
      this.#listener.event({ type: 'spoken', text, endsMs: endsMs.map((ms) => Math.round(fromMs + ms)) })
    }
    for (let at = 0; at < audio.length && !this.#isOver; at += PIECE_CHARS) {
      this.#listener.audio(Buffer.from(audio.slice(at, at + PIECE_CHARS), 'latin1'))
    }
    this.#audioBytes += Buffer.byteLength(audio, 'base64')
    this.#disarm()
    this.#watch()
  }

  /** Bounds the wait for audio that is due; one wait at a time. */
  #watch(): void {
    if (this.#isOver || this.#cancelTimer !== null) return
    const openChars = this.#givenChars - this.#spokenChars
    const isDue = this.#isEnded || (this.#isFlushed && this.#isMissed(openChars)) || openChars >= DUE_CHARS
    if (isDue) this.#cancelTimer = this.#options.clock.after(SILENT_MS, () => this.#silent())
  }

  /** Whether so many open characters of a flushed text must still be spoken. Behind audio whose characters are not told none is known. */
  #isMissed(openChars: number): boolean {
    if (this.#audioBytes === 0) return openChars > 0
    return this.#spokenChars > 0 && openChars > LEFT_OUT_CHARS
  }

  #silent(): void {
    this.#cancelTimer = null
    // Of audio without its characters nobody can tell how far it has come: what was there to be said has been.
    const isUntold = this.#isEnded && this.#spokenChars === 0 && this.#audioBytes > 0
    if (this.#isSpoken || isUntold) return this.#done()
    this.#fail('silent', `no audio for ${SILENT_MS} ms`)
  }

  get #isSpoken(): boolean {
    return this.#isEnded && this.#spokenChars >= this.#givenChars
  }

  #final(): void {
    const isShort = this.#spokenChars > 0 && this.#givenChars - this.#spokenChars > LEFT_OUT_CHARS
    if (this.#isEnded && !isShort) this.#done()
    else this.#fail('lost', 'the provider ended before its text did')
  }

  #ended(reason: string, handshake: { status: number | null } | null): void {
    if (this.#isOver) return
    if (this.#isSpoken) return this.#done()
    this.#fail(this.#whyEnded(reason, handshake), reason)
  }

  #whyRefused(error: string): VoiceFault {
    if (!this.#isGiven && WAITED_IN_VAIN.test(error)) return 'idle'
    return isUnfitReason(error) ? 'unfit' : 'refused'
  }

  #whyEnded(reason: string, handshake: { status: number | null } | null): VoiceFault {
    if (isUnfitStatus(handshake?.status ?? null) || isUnfitReason(reason)) return 'unfit'
    if (handshake) return 'handshake'
    return this.#isGiven ? 'lost' : 'idle'
  }

  #done(): void {
    this.#letGo()
    this.#socket.close()
    this.#listener.event({ type: 'done' })
  }

  #fail(why: VoiceFault, reason: string): void {
    this.#letGo()
    this.#socket.close()
    const message = this.#options.redact(reason).slice(0, MAX_REASON_CHARS).toWellFormed()
    this.#listener.event({ type: 'failed', why, message })
  }

  #letGo(): void {
    this.#isOver = true
    this.#waiting = []
    this.#disarm()
  }

  #disarm(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
  }
}

function letters(text: string): number {
  return text.replaceAll(/\s+/gu, '').length
}
