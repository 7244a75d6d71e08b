import type { Clock } from '../../kernel/clock.ts'

/** Of all full addresses together. */
const MAX_QUESTIONS_PER_SECOND = 20
/** At so many the one that was full first is forgotten. */
const MAX_ADDRESSES = 10_000

/**
 * The addresses that have asked for as much as they may, as far as this process has seen. What they go on to ask costs the
 * database next to nothing: only so many of their questions are put to it.
 */
export class FullAddresses {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #untilMs = new Map<string, number>()
  #second = 0
  #asked = 0

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  add(address: string, seconds: number): void {
    this.#untilMs.delete(address)
    this.#untilMs.set(address, this.#clock.monotonicMs() + seconds * 1_000)
    const [oldest] = this.#untilMs.keys()
    if (this.#untilMs.size > MAX_ADDRESSES && oldest !== undefined) this.#untilMs.delete(oldest)
  }

  /** In how many whole seconds an address has room again; 0 for one that is not full. */
  secondsLeft(address: string): number {
    const leftMs = (this.#untilMs.get(address) ?? 0) - this.#clock.monotonicMs()
    return Math.max(0, Math.ceil(leftMs / 1_000))
  }

  /** Whether the database may be asked something for an address; of a full one this counts as asked. */
  mayAsk(address: string): boolean {
    const nowMs = this.#clock.monotonicMs()
    const untilMs = this.#untilMs.get(address)
    if (untilMs === undefined) return true
    if (untilMs <= nowMs) return this.#untilMs.delete(address)
    const second = Math.floor(nowMs / 1_000)
    if (second !== this.#second) this.#asked = 0
    this.#second = second
    this.#asked += 1
    return this.#asked <= MAX_QUESTIONS_PER_SECOND
  }
}
