import type { Clock } from '../../src/kernel/clock.ts'

/** What arrives at the service: from the model, or from the carrier. */
export type Side = 'model' | 'carrier'

/** Something is done to the wire as the event `index` (from 0) arrives; what does not run `arrive` loses the event. */
export type Tampering = { index: number; tamper(arrive: () => void, side: Side): void } | { index: number; swap: true }

/** Swapped with nothing that comes this soon, an event arrives anyway. */
export const SWAP_WITHIN_MS = 200

/** Everything but the caller's audio goes through here on its way to the service, is counted, and may be tampered with. */
export class Wire {
  readonly trace: string[] = []
  readonly #clock: Clock
  readonly #tampering: Tampering | null
  #held: (() => void) | null = null
  count = 0

  constructor(clock: Clock, tampering: Tampering | null) {
    this.#clock = clock
    this.#tampering = tampering
  }

  deliver(side: Side, what: string, run: () => void): void {
    const index = this.count
    this.count += 1
    this.note(`#${index} ${side} ${what}`)
    const tampering = this.#tampering
    if (tampering?.index !== index) return this.#run(run)
    if ('swap' in tampering) return this.#hold(run)
    tampering.tamper(run, side)
  }

  /** Adds a line to the trace. */
  note(line: string): void {
    this.trace.push(`${(this.#clock.monotonicMs() / 1_000).toFixed(3).padStart(8)} ${line}`)
  }

  #run(run: () => void): void {
    run()
    this.#release()
  }

  #hold(run: () => void): void {
    this.#held = run
    this.#clock.after(SWAP_WITHIN_MS, () => this.#release())
  }

  #release(): void {
    const held = this.#held
    this.#held = null
    held?.()
  }
}
