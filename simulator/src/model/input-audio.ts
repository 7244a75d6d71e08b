import { FRAME_BYTES, FRAME_MS } from '../audio/mulaw.ts'
import { AudioTape } from './audio-tape.ts'
import { ModelError } from './model-error.ts'
import type { TurnDetection } from './session-config.ts'
import { type Completeness, TurnDetector, type TurnEvent } from './turn-detector.ts'
import type { VoiceActivity } from './voice-activity.ts'

/** The most audio that one turn can have; older audio is lost. */
const TURN_LIMIT_MS = 10 * 60_000
/** What is kept while nobody speaks: more than the longest padding that a session can ask for. */
const QUIET_KEEP_MS = 12_000
const COMMIT_MIN_MS = 100

/** A finished stretch of the caller's audio, as it becomes an item. */
export type Turn = { audio: Uint8Array; startMs: number; endMs: number }

/** The input audio buffer of a session: the caller's audio that no item holds yet, and who speaks in it. */
export class InputAudio {
  readonly #activity: VoiceActivity
  readonly #understand: (mulaw: Uint8Array) => Completeness
  readonly #tape = new AudioTape(TURN_LIMIT_MS)
  readonly #detector = new TurnDetector()
  #pending = Buffer.alloc(0)
  #frameMs = 0
  #sinceMs = 0

  /** `understand` tells whether the words so far are a whole sentence; it is asked for `semantic_vad` only. */
  constructor(activity: VoiceActivity, understand: (mulaw: Uint8Array) => Completeness) {
    this.#activity = activity
    this.#understand = understand
  }

  /** Milliseconds of audio appended since the session began. */
  get endMs(): number {
    return this.#tape.endMs
  }

  /** Whether a turn has begun and not ended. */
  get isSpeaking(): boolean {
    return this.#detector.speakingSinceMs !== null
  }

  /** Adds µ-law audio; returns the beginnings and ends of turns found in it, in order. None without turn detection. */
  append(mulaw: Uint8Array, settings: TurnDetection | null): TurnEvent[] {
    this.#tape.append(mulaw)
    this.#pending = Buffer.concat([this.#pending, mulaw])
    const events: TurnEvent[] = []
    let offset = 0
    for (; offset + FRAME_BYTES <= this.#pending.length; offset += FRAME_BYTES) {
      const event = this.#frame(this.#pending.subarray(offset, offset + FRAME_BYTES), settings)
      if (event) events.push(event)
    }
    this.#pending = Buffer.from(this.#pending.subarray(offset))
    if (settings && !this.isSpeaking && events.length === 0) this.#tape.keepFrom(this.endMs - QUIET_KEEP_MS)
    return events
  }

  /** Takes a turn that was found out of the buffer. */
  take(turn: { startMs: number; endMs: number }): Turn {
    this.#sinceMs = turn.endMs
    return { audio: this.#tape.slice(turn.startMs, turn.endMs), startMs: turn.startMs, endMs: turn.endMs }
  }

  /**
   * Takes everything since the last commit or clear, at the client's wish.
   * @throws ModelError `input_audio_buffer_commit_empty` for less than 100 ms.
   */
  commit(): Turn {
    const startMs = Math.max(this.#sinceMs, this.#tape.startMs)
    const durationMs = this.endMs - startMs
    if (durationMs < COMMIT_MIN_MS) throw tooSmall(durationMs)
    this.#detector.reset(this.endMs)
    return this.take({ startMs, endMs: this.endMs })
  }

  /** Forgets what no item holds yet, a turn that goes on included. */
  clear(): void {
    this.#sinceMs = this.endMs
    this.#tape.keepFrom(this.endMs)
    this.#detector.reset(this.endMs)
  }

  /** Ends the voice detector. */
  close(): void {
    this.#activity.close()
  }

  #frame(frame: Uint8Array, settings: TurnDetection | null): TurnEvent | null {
    const startMs = this.#frameMs
    this.#frameMs += FRAME_MS
    const verdict = this.#activity.judge(frame)
    if (!settings) return null
    const words = () => this.#understand(this.#tape.slice(this.#detector.speakingSinceMs ?? startMs, this.#frameMs))
    return this.#detector.frame(startMs, verdict, settings, words)
  }
}

function tooSmall(durationMs: number): ModelError {
  const message = `Error committing input audio buffer: buffer too small. Expected at least ${COMMIT_MIN_MS}ms of audio, but buffer only has ${durationMs.toFixed(2)}ms of audio.`
  return new ModelError('input_audio_buffer_commit_empty', message)
}
