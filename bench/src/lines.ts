import type { Call } from './call.ts'
import type { Caller } from './caller.ts'
import type { MediaStream } from './carrier.ts'
import type { CallControl } from './carrier-rest.ts'
import { PHASES } from './metronome.ts'

/** A call with the caller who makes it, and where its audio goes. */
export type Line = { call: Call; caller: Caller; stream: MediaStream }

/** The calls that are up, by the phase in which they beat. */
export class Lines implements CallControl {
  readonly #phases: Line[][] = Array.from({ length: PHASES }, () => [])

  /** How many there are. */
  get count(): number {
    return this.#phases.reduce((sum, lines) => sum + lines.length, 0)
  }

  /** Those of one phase. */
  inPhase(phase: number): readonly Line[] {
    return this.#phases[phase] ?? []
  }

  /** A call is up. */
  add(line: Line): void {
    this.#phases[line.call.id % PHASES]?.push(line)
  }

  /** A call is over. */
  remove(line: Line): void {
    const lines = this.#phases[line.call.id % PHASES] ?? []
    lines.splice(lines.indexOf(line), 1)
  }

  /** Lets all conversations come to their end. */
  endAll(nowMs: number): void {
    for (const { call } of this.#phases.flat()) call.end(nowMs)
  }

  /** The same for those that began more than `callSeconds` ago, or for the oldest one when that is 0. */
  endSome(nowMs: number, callSeconds: number): void {
    const talking = this.#phases.flat().filter(({ call }) => !call.isEnding)
    const oldest = talking.toSorted((a, b) => a.call.id - b.call.id).slice(0, 1)
    const over = talking.filter(({ call }) => nowMs - call.rungUs / 1000 > callSeconds * 1000)
    for (const { call } of callSeconds > 0 ? over : oldest) call.end(nowMs)
  }

  isLive(callSid: string): boolean {
    return this.#find(callSid)?.caller.isLive ?? false
  }

  take(callSid: string): void {
    this.#find(callSid)?.caller.stop()
  }

  #find(callSid: string): Line | undefined {
    return this.#phases.flat().find(({ call }) => call.sid === callSid)
  }
}
