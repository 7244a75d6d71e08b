import type { Clock } from '../../src/kernel/clock.ts'
import type { VoiceFault, VoiceListener, VoiceStream } from '../../src/platform/speech/streamed-port.ts'
import { agentAudio } from './audio.ts'
import { spokenMs } from './brain.ts'

/** How one text is spoken. `failsAs`: it is over so `failsAfterMs` behind its beginning. */
export type SpeechTimes = { connectMs: number; chunkMs: number; failsAs?: VoiceFault; failsAfterMs?: number }

type Deps = {
  clock: Clock
  /** The answer whose words are being given. */
  answer(): number
  /** Something arrives at the service. */
  deliver(what: string, run: () => void): void
}

/** So many characters are spoken without being told to. */
const SCHEDULE_CHARS = 50
const PIECE_MS = 400

/** One text on its way to a secondary provider of voices, and its sound on the way back, in virtual time: nothing of it comes once it is closed or over. */
export class VirtualSpeech implements VoiceStream {
  readonly #listener: VoiceListener
  readonly #times: SpeechTimes
  readonly #deps: Deps
  readonly #openAtMs: number
  #answer: number | null = null
  #given = ''
  #spokenMs = 0
  #lastMs = 0
  #isEnded = false
  #isOver = false

  constructor(listener: VoiceListener, times: SpeechTimes, deps: Deps) {
    this.#listener = listener
    this.#times = times
    this.#deps = deps
    this.#openAtMs = deps.clock.monotonicMs() + times.connectMs
    const { failsAs: why, failsAfterMs = 0 } = times
    if (!why) return
    deps.clock.after(failsAfterMs, () => this.#end(() => listener.event({ type: 'failed', why, message: why })))
  }

  get isOpen(): boolean {
    return !this.#isOver
  }

  say(text: string): void {
    this.#answer ??= this.#deps.answer()
    this.#given += text
    if (this.#given.length >= SCHEDULE_CHARS) this.#speak(this.#given.lastIndexOf(' ') + 1)
  }

  flush(): void {
    this.#speak(this.#given.length)
  }

  end(): void {
    this.flush()
    this.#isEnded = true
    this.#later(0, () => this.#end(() => this.#listener.event({ type: 'done' })))
  }

  close(): void {
    this.#isOver = true
  }

  /** The first so many characters of what was given and is not spoken yet. */
  #speak(chars: number): void {
    const text = this.#given.slice(0, chars)
    if (text.trim() === '' || this.#isEnded) return
    this.#given = this.#given.slice(chars)
    const [fromMs, ms, answer] = [this.#spokenMs, spokenMs(text), this.#answer ?? 0]
    this.#spokenMs += ms
    this.#later(this.#times.chunkMs, () => {
      const endsMs = Array.from(text, (_, at) => Math.round(fromMs + ((at + 1) * ms) / text.length))
      this.#listener.event({ type: 'spoken', text, endsMs })
      for (let atMs = 0; atMs < ms && !this.#isOver; atMs += PIECE_MS) {
        this.#listener.audio(agentAudio(answer, Math.min(PIECE_MS, ms - atMs)))
      }
    })
  }

  /** Not before what was to come before it. */
  #later(ms: number, run: () => void): void {
    const { clock, deliver } = this.#deps
    this.#lastMs = Math.max(this.#lastMs, clock.monotonicMs() + ms, this.#openAtMs + ms)
    clock.after(this.#lastMs - clock.monotonicMs(), () => {
      if (!this.#isOver) deliver(`speech of ${this.#answer}`, run)
    })
  }

  #end(tell: () => void): void {
    if (this.#isOver) return
    this.#isOver = true
    tell()
  }
}
