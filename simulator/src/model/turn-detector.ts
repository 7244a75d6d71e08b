import { FRAME_MS } from '../audio/mulaw.ts'
import type { TurnDetection } from './session-config.ts'
import type { FrameVerdict } from './voice-activity.ts'

/** A change in who speaks, in milliseconds of all audio that was appended since the session began. */
export type TurnEvent = { kind: 'started'; startMs: number } | { kind: 'stopped'; startMs: number; endMs: number }

/** Whether words so far make a whole sentence; `unknown` for audio that nothing is known of. */
export type Completeness = 'whole' | 'trailing_off' | 'unknown'

/** Frames looked at together to tell a beginning: 160 ms. */
const ONSET_FRAMES = 8
/** Of those, so many must be speech, and so many voiced: a cough or a click is neither for long enough. */
const ONSET_SPEECH_MIN = 4
const ONSET_VOICED_MIN = 2

const SEMANTIC_THRESHOLD = 0.5
const SEMANTIC_PREFIX_MS = 300
const WHOLE_SENTENCE_MS = 240
/** After how much silence a turn is over, when nothing is known of the words, and at the latest. */
const EAGERNESS = {
  high: { unknownMs: 400, latestMs: 2_000 },
  auto: { unknownMs: 700, latestMs: 4_000 },
  medium: { unknownMs: 700, latestMs: 4_000 },
  low: { unknownMs: 1_200, latestMs: 8_000 },
}

/**
 * Finds where the caller's turns begin and end, frame by frame. No audio, no socket, no timer: it counts appended audio,
 * so it stands still while none comes, like the real server.
 */
export class TurnDetector {
  #recent: { speech: boolean; voiced: boolean; startMs: number }[] = []
  #startMs: number | null = null
  #lastSpeechMs = 0
  #floorMs = 0
  #words: Completeness | null = null

  /** Where the turn that goes on began, its padding included; null while nobody speaks. */
  get speakingSinceMs(): number | null {
    return this.#startMs
  }

  /**
   * Takes the verdict on the frame that begins at `frameMs`. `completeness` is asked once in each pause of `semantic_vad`.
   */
  frame(
    frameMs: number,
    verdict: FrameVerdict,
    settings: TurnDetection,
    completeness: () => Completeness,
  ): TurnEvent | null {
    const speech = verdict.probability >= thresholdOf(settings)
    if (this.#startMs === null) return this.#listen({ speech, voiced: verdict.voiced, startMs: frameMs }, settings)
    const nowMs = frameMs + FRAME_MS
    if (speech) this.#speech(nowMs)
    const silenceMs = nowMs - this.#lastSpeechMs
    if (silenceMs === 0 || silenceMs < this.#silenceNeededMs(settings, silenceMs, completeness)) return null
    return this.#stop(nowMs)
  }

  /** Forgets a turn that goes on; no later turn begins before `nowMs`. */
  reset(nowMs: number): void {
    this.#recent = []
    this.#startMs = null
    this.#floorMs = nowMs
  }

  #listen(frame: { speech: boolean; voiced: boolean; startMs: number }, settings: TurnDetection): TurnEvent | null {
    this.#recent.push(frame)
    if (this.#recent.length > ONSET_FRAMES) this.#recent.shift()
    const speech = this.#recent.filter((recent) => recent.speech)
    const voiced = speech.filter((recent) => recent.voiced)
    const onset = speech[0]
    if (!onset || speech.length < ONSET_SPEECH_MIN || voiced.length < ONSET_VOICED_MIN) return null
    const startMs = Math.max(this.#floorMs, onset.startMs - prefixOf(settings))
    this.#startMs = startMs
    this.#speech(frame.startMs + FRAME_MS)
    return { kind: 'started', startMs }
  }

  #speech(nowMs: number): void {
    this.#lastSpeechMs = nowMs
    this.#words = null
  }

  #silenceNeededMs(settings: TurnDetection, silenceMs: number, completeness: () => Completeness): number {
    if (settings.type === 'server_vad') return settings.silence_duration_ms
    if (silenceMs < WHOLE_SENTENCE_MS) return WHOLE_SENTENCE_MS
    const { unknownMs, latestMs } = EAGERNESS[settings.eagerness]
    this.#words ??= completeness()
    if (this.#words === 'whole') return WHOLE_SENTENCE_MS
    return this.#words === 'unknown' ? unknownMs : latestMs
  }

  #stop(endMs: number): TurnEvent {
    const startMs = this.#startMs ?? endMs
    this.reset(endMs)
    return { kind: 'stopped', startMs, endMs }
  }
}

function thresholdOf(settings: TurnDetection): number {
  return settings.type === 'server_vad' ? settings.threshold : SEMANTIC_THRESHOLD
}

function prefixOf(settings: TurnDetection): number {
  return settings.type === 'server_vad' ? settings.prefix_padding_ms : SEMANTIC_PREFIX_MS
}
