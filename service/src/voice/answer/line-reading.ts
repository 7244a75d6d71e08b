import { readSamples } from './mulaw-samples.ts'
import { levelOf, toneIn } from './tone.ts'

/**
 * What is heard on the line of who answered, told once each. `speech_ended`: how long a stretch of sound was, told when it has been
 * quiet for a moment · `tone`: one steady tone, told at its end.
 */
export type LineSound =
  | { kind: 'speech_began' }
  | { kind: 'speech_ended'; ms: number }
  | { kind: 'tone'; hz: number; ms: number }
  | { kind: 'fax'; hz: number }

const FRAME_MS = 20
const FRAME_SAMPLES = 160
/** Groups of base64, of three samples each, that are read at once: carriers send frames of any length. */
const GROUPS_AT_ONCE = 64
/** About −38 dBFS: above the noise of a telephone line, below speech. */
const LOUD_LEVEL = 300
/** So much sound, with no more than a breath in it, is the beginning of speech; a click is less. */
const ONSET_FRAMES = 4
/** Speech is over when nothing was heard for so long. */
const QUIET_FRAMES = 20
/** A tone keeps to its frequency, and does not swell: a voice that is sung comes near for less long. */
const STEADY_SHARE = 0.02
const SWELL = 1.6
/** Less of a tone is a part of speech, or of a key. */
const TONE_FRAMES = 7
/** What a fax machine answers with: 2,100 Hz for some three seconds. No beep of a mailbox is as long. */
const ANSWER_HZ = 2_100
const ANSWER_WITHIN_HZ = 30
const ANSWER_FRAMES = 50
/** What one that calls sends: 1,100 Hz for half a second, again every three and a half. One alone may be a beep. */
const CALLING_HZ = 1_100
const CALLING_WITHIN_HZ = 40
const CALLING_FRAMES = { from: 20, until: 32 }
const CALLING_PAUSE_FRAMES = { from: 125, until: 200 }

type Run = { hz: number; level: number; frames: number; isTold: boolean }

/**
 * Listens to who answered a call that was placed: speech, its length, and tones. Of the audio alone: no clock, no I/O. It costs a few
 * µs for each frame, for as long as it is asked.
 */
export class LineReading {
  readonly #tell: (sound: LineSound) => void
  readonly #frame = new Int16Array(FRAME_SAMPLES)
  readonly #samples = new Int16Array(3 * GROUPS_AT_ONCE)
  #filled = 0
  #run: Run | null = null
  /** Sound on its way to being speech, and frames since the last of it. */
  #soundFrames = 0
  #quietFrames = 0
  #isSpeech = false
  #framesSinceCalling = Number.POSITIVE_INFINITY

  constructor(tell: (sound: LineSound) => void) {
    this.#tell = tell
  }

  /** Base64 µ-law, as it comes: a view that is only valid now. */
  caller(payload: Buffer): void {
    for (let from = 0; from < payload.length; from += 4 * GROUPS_AT_ONCE) this.#read(payload, from)
  }

  #read(payload: Buffer, from: number): void {
    const count = readSamples(payload, this.#samples, from)
    for (let at = 0; at < count; at += 1) {
      this.#frame[this.#filled] = this.#samples[at] as number
      this.#filled += 1
      if (this.#filled < FRAME_SAMPLES) continue
      this.#filled = 0
      this.#heard()
    }
  }

  #heard(): void {
    this.#framesSinceCalling += 1
    const level = levelOf(this.#frame)
    const hz = level > LOUD_LEVEL ? toneIn(this.#frame) : null
    const isTone = this.#followTone(hz, level)
    this.#followSpeech(level > LOUD_LEVEL && !isTone)
  }

  /** Whether the frame is a part of a tone. */
  #followTone(hz: number | null, level: number): boolean {
    const run = this.#run
    if (run && hz !== null && isSame(run, hz, level)) {
      run.frames += 1
      // What took its beginning for sound was wrong.
      if (run.frames === TONE_FRAMES && !this.#isSpeech) this.#soundFrames = 0
      if (!run.isTold && run.frames >= ANSWER_FRAMES && isNear(run.hz, ANSWER_HZ, ANSWER_WITHIN_HZ)) {
        run.isTold = true
        this.#tell({ kind: 'fax', hz: Math.round(run.hz) })
      }
      return true
    }
    if (run) this.#toneOver(run)
    this.#run = hz === null ? null : { hz, level, frames: 1, isTold: false }
    return hz !== null
  }

  #toneOver({ hz, frames, isTold }: Run): void {
    if (isTold || frames < TONE_FRAMES) return
    const { from, until } = CALLING_PAUSE_FRAMES
    const isCalling =
      isNear(hz, CALLING_HZ, CALLING_WITHIN_HZ) && frames >= CALLING_FRAMES.from && frames <= CALLING_FRAMES.until
    const pauseFrames = this.#framesSinceCalling - frames
    if (isCalling && pauseFrames >= from && pauseFrames <= until) this.#tell({ kind: 'fax', hz: Math.round(hz) })
    else this.#tell({ kind: 'tone', hz: Math.round(hz), ms: frames * FRAME_MS })
    if (isCalling) this.#framesSinceCalling = 0
  }

  #followSpeech(isSound: boolean): void {
    if (isSound) this.#soundFrames += 1 + (this.#isSpeech ? this.#quietFrames : 0)
    this.#quietFrames = isSound ? 0 : this.#quietFrames + 1
    if (!this.#isSpeech && this.#soundFrames >= ONSET_FRAMES) {
      this.#isSpeech = true
      this.#tell({ kind: 'speech_began' })
    }
    if (this.#quietFrames < QUIET_FRAMES) return
    if (this.#isSpeech) this.#tell({ kind: 'speech_ended', ms: this.#soundFrames * FRAME_MS })
    this.#isSpeech = false
    this.#soundFrames = 0
  }
}

function isSame(run: Run, hz: number, level: number): boolean {
  return isNear(run.hz, hz, run.hz * STEADY_SHARE) && level < run.level * SWELL && level > run.level / SWELL
}

function isNear(hz: number, other: number, withinHz: number): boolean {
  return Math.abs(hz - other) <= withinHz
}
