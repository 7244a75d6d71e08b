import { type Level, levelOf } from './level.ts'
import { fromMulaw, TELEPHONE_RATE_HZ } from './mulaw.ts'
import { PlayLine, type PlayLineOptions } from './play-line.ts'
import { Resampler } from './resampler.ts'

type SpeakerOptions = {
  /** How much may wait to be played. */
  ahead: PlayLineOptions
  /** Is called with each mark once all before it was played, or taken away. */
  onMark: (name: string) => void
}

/** Of the loudest sample: no voice on a telephone is below it. */
const QUIET = 0.02
/** The end of a piece is told a moment before the clock shows it. */
const SLACK_S = 0.005

/** Plays what one side of a call says, in µ-law as it comes. */
export class Speaker {
  readonly #context: AudioContext
  readonly #line: PlayLine
  readonly #out: AnalyserNode
  readonly #onMark: (name: string) => void
  readonly #playing = new Set<AudioBufferSourceNode>()
  #resampler: Resampler
  readonly level: Level

  constructor(context: AudioContext, { ahead, onMark }: SpeakerOptions) {
    this.#context = context
    this.#line = new PlayLine(ahead)
    this.#onMark = onMark
    this.#out = context.createAnalyser()
    this.#out.connect(context.destination)
    this.#resampler = this.#freshResampler()
    this.level = levelOf(this.#out)
  }

  play(mulaw: Uint8Array): void {
    const samples = this.#resampler.push(fromMulaw(mulaw))
    if (samples.length === 0) return
    const rate = this.#context.sampleRate
    const isQuiet = samples.every((sample) => Math.abs(sample) < QUIET)
    const startS = this.#line.place(samples.length / rate, this.#context.currentTime, { isQuiet })
    if (startS === null) return
    const buffer = this.#context.createBuffer(1, samples.length, rate)
    buffer.getChannelData(0).set(samples)
    const source = new AudioBufferSourceNode(this.#context, { buffer })
    source.onended = () => {
      this.#playing.delete(source)
      this.#tellMarks()
    }
    this.#playing.add(source)
    source.connect(this.#out)
    source.start(Math.round(startS * rate) / rate)
  }

  /** Asks to be told when all so far was played. */
  mark(name: string): void {
    this.#line.mark(name)
    this.#tellMarks()
  }

  /** Is silent at once. */
  clear(): void {
    const marks = this.#line.clear()
    for (const source of this.#playing) {
      source.onended = null
      source.stop()
    }
    this.#playing.clear()
    this.#resampler = this.#freshResampler()
    for (const name of marks) this.#onMark(name)
  }

  #tellMarks(): void {
    for (const name of this.#line.passed(this.#context.currentTime + SLACK_S)) this.#onMark(name)
  }

  #freshResampler(): Resampler {
    return new Resampler(TELEPHONE_RATE_HZ, this.#context.sampleRate)
  }
}
