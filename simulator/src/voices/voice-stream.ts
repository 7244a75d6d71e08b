import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import { Timers } from '../model/timers.ts'
import type { Speech } from '../speech/speech.ts'
import { type AlignedPiece, alignedSpeech } from './aligned-speech.ts'
import type { VoiceFaults } from './voice-faults.ts'
import type { VoiceSettings } from './voice-settings.ts'

/** What a stream was asked for, and what became of it. */
export type VoiceRecord = {
  readonly voiceId: string
  readonly modelId: string
  /** The texts of its messages, the blank one that opens it left out. */
  readonly texts: string[]
  /** How many messages with audio it has sent. */
  audioMessages: number
  /** The code that it was closed with; null while it is open. */
  closedWith: number | null
}

type Options = {
  socket: WebSocket
  raw: Socket
  settings: VoiceSettings
  speech: Speech
  faults: VoiceFaults
  /** The key of the handshake; one in the first message counts as well. Null takes any. */
  apiKey: string | null
  givenKey: string | null
}

const POLICY = 1008
const NORMAL = 1000
const DEFAULT_SCHEDULE = [120, 160, 250, 290]
const MIN_SCHEDULE = 50
const MAX_SCHEDULE = 500
/** From text that is due to its first audio. */
const FIRST_BYTE_MS = 80
/** Audio comes so many times faster than it plays. */
const TIMES_REAL_TIME = 6
const BYTES_PER_MS = 8

/** One stream of speech: text comes in pieces, and is spoken when there is enough of it, when it is flushed, and at its end. */
export class VoiceStream {
  readonly record: VoiceRecord
  readonly #options: Options
  readonly #timers = new Timers()
  #schedule = DEFAULT_SCHEDULE
  #chunks = 0
  #text = ''
  #isOpened = false
  #isEnded = false
  #spoken: Promise<void> = Promise.resolve()
  #cancelInactivity: () => void = () => {}
  #isOver = false
  #isSilent = false

  constructor(options: Options) {
    this.#options = options
    const { voiceId, modelId } = options.settings
    this.record = { voiceId, modelId, texts: [], audioMessages: 0, closedWith: null }
    options.socket.on('message', (data) => this.#received((data as Buffer).toString('utf8')))
    options.socket.on('close', (code) => this.#over(code))
    options.socket.on('error', () => options.socket.terminate())
    this.#watch()
  }

  close(): void {
    this.#options.socket.terminate()
  }

  #over(code: number): void {
    this.#isOver = true
    this.#timers.close()
    this.record.closedWith ??= code
  }

  #watch(): void {
    this.#cancelInactivity()
    const { inactivityMs } = this.#options.settings
    this.#cancelInactivity = this.#timers.after(inactivityMs, () => this.#refuse('input_timeout_exceeded'))
  }

  #received(data: string): void {
    if (this.#isOver || this.#isEnded) return
    const message = parsed(data)
    if (message === null || typeof message['text'] !== 'string') return this.#refuse('invalid_message')
    this.#watch()
    if (!this.#isOpened) return this.#open(message)
    const text = message['text']
    if (text !== '') this.record.texts.push(text)
    if (text === '') return this.#end()
    this.#text += text
    const isDue = this.#options.settings.autoMode || this.#text.trim().length >= this.#threshold()
    if (isDue || message['flush'] === true) this.#speakNext()
  }

  /** The first message opens the stream: a single space, with whatever is set. */
  #open(message: Record<string, unknown>): void {
    const { apiKey, givenKey } = this.#options
    const key = givenKey ?? message['xi_api_key'] ?? null
    if (typeof key !== 'string' || (apiKey !== null && key !== apiKey)) return this.#refuse('invalid_api_key')
    if (message['text'] !== ' ') return this.#refuse('missing_initial_message')
    this.#isOpened = true
    const config = message['generation_config'] as { chunk_length_schedule?: unknown } | undefined
    const schedule = config?.chunk_length_schedule
    if (schedule === undefined) return
    if (!isSchedule(schedule)) return this.#refuse('invalid_chunk_length_schedule')
    this.#schedule = schedule
  }

  #threshold(): number {
    return this.#schedule[Math.min(this.#chunks, this.#schedule.length - 1)] ?? 0
  }

  #end(): void {
    this.#isEnded = true
    this.#cancelInactivity()
    this.#speakNext()
    this.#after(() => {
      this.#send({ audio: null, isFinal: true, normalizedAlignment: null, alignment: null })
      this.#options.socket.close(NORMAL)
    })
  }

  #speakNext(): void {
    const text = this.#text
    this.#text = ''
    if (text.trim() === '') return
    this.#chunks += 1
    this.#after(() => this.#speak(text))
  }

  /** Texts are spoken one after the other. */
  #after(work: () => void | Promise<void>): void {
    this.#spoken = this.#spoken
      .then(() => (this.#isOver || this.#isSilent ? undefined : work()))
      .catch(() => this.close())
  }

  async #speak(text: string): Promise<void> {
    const pieces = await alignedSpeech(this.#options.speech, text)
    await this.#wait(FIRST_BYTE_MS + (this.#options.faults.slow_first_byte_ms ?? 0))
    for (const piece of pieces) {
      if (this.#isOver || this.#fails()) return
      this.#sound(piece)
      await this.#wait(piece.mulaw.length / BYTES_PER_MS / TIMES_REAL_TIME)
    }
  }

  #wait(ms: number): Promise<boolean> {
    return this.#timers.sleep(ms, new AbortController().signal)
  }

  #sound({ mulaw, alignment }: AlignedPiece): void {
    this.record.audioMessages += 1
    const told = this.#options.faults.no_alignment ? null : alignment
    const audio = Buffer.from(mulaw).toString('base64')
    this.#send({ audio, isFinal: null, normalizedAlignment: told, alignment: told })
  }

  /** Whether the stream has come to where it is to fail. */
  #fails(): boolean {
    const { silent_after: silent, drop_after: drop, error_after: error } = this.#options.faults
    const sent = this.record.audioMessages
    if (drop !== undefined && sent >= drop) {
      this.#options.raw.resetAndDestroy()
      return true
    }
    if (error && sent >= error.messages) {
      this.#refuse(error.error)
      return true
    }
    // Nothing is said any more, not even that it is over.
    this.#isSilent = silent !== undefined && sent >= silent
    return this.#isSilent
  }

  #refuse(error: string): void {
    this.#send({ message: `The stream was refused: ${error}.`, error, code: POLICY })
    this.#options.socket.close(POLICY, error)
  }

  #send(message: object): void {
    if (!this.#isOver) this.#options.socket.send(JSON.stringify(message))
  }
}

function parsed(data: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(data)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

function isSchedule(value: unknown): value is number[] {
  const isStep = (step: unknown) => typeof step === 'number' && step >= MIN_SCHEDULE && step <= MAX_SCHEDULE
  return Array.isArray(value) && value.length > 0 && value.every(isStep)
}
