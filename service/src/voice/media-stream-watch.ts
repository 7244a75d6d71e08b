import type { Clock } from '../kernel/clock.ts'

/** A stream that is looked at once a second. */
export type WatchedStream = {
  /** Messages that came so far. */
  readonly messages: number
  /** Bytes that the peer has not taken yet. */
  bufferedBytes(): number
  tooFast(): void
  tooSlow(): void
}

type Looked = { messages: number; fastSeconds: number; slowSeconds: number }

const INTERVAL_MS = 1_000
/** Four times what a call sends; a burst after a pause of the network is let pass. */
const MAX_MESSAGES_PER_SECOND = 200
const MAX_FAST_SECONDS = 2
const MAX_BUFFERED_BYTES = 256 * 1024
const MAX_SLOW_SECONDS = 5

/** Looks once a second at all streams of the process whether they send too much, or take too little, for too long. */
export class StreamWatch {
  readonly #clock: Clock
  readonly #streams = new Map<WatchedStream, Looked>()
  readonly #stop: () => void
  #lookedAtMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#lookedAtMs = clock.monotonicMs()
    this.#stop = clock.every(INTERVAL_MS, () => this.#look())
  }

  add(stream: WatchedStream): void {
    this.#streams.set(stream, { messages: stream.messages, fastSeconds: 0, slowSeconds: 0 })
  }

  remove(stream: WatchedStream): void {
    this.#streams.delete(stream)
  }

  /** Streams that are looked at. */
  get size(): number {
    return this.#streams.size
  }

  /** Stops to look. Repeating it does nothing. */
  close(): void {
    this.#stop()
  }

  #look(): void {
    const nowMs = this.#clock.monotonicMs()
    // A busy process looks late: what counts is the rate.
    const maxMessages = (MAX_MESSAGES_PER_SECOND * (nowMs - this.#lookedAtMs)) / 1_000
    this.#lookedAtMs = nowMs
    for (const [stream, looked] of this.#streams) {
      const isFast = stream.messages - looked.messages > maxMessages
      const isSlow = stream.bufferedBytes() > MAX_BUFFERED_BYTES
      looked.messages = stream.messages
      looked.fastSeconds = isFast ? looked.fastSeconds + 1 : 0
      looked.slowSeconds = isSlow ? looked.slowSeconds + 1 : 0
      if (looked.fastSeconds >= MAX_FAST_SECONDS) stream.tooFast()
      else if (looked.slowSeconds >= MAX_SLOW_SECONDS) stream.tooSlow()
    }
  }
}
