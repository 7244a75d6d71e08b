import { boolean, integer, list, object, type Shaped, text } from '../model/shape.ts'

const MS_MAX = 3_600_000
const COUNT_MAX = 1_000_000
const ms = integer(0, MS_MAX)
const count = integer(0, COUNT_MAX)

const switches = {
  /** The TCP connection is reset before any answer. */
  refuse: boolean,
  /** The HTTP status with which the upgrade is refused. */
  handshake_status: integer(400, 599),
  /** How long the upgrade waits. */
  handshake_delay_ms: ms,
  /** Text is taken, and after so many messages with audio there is no further one. */
  silent_after: count,
  /** The connection is reset after so many messages with audio. */
  drop_after: count,
  /** An error is told after so many messages with audio, and the stream closed. */
  error_after: object({ messages: count, error: text() }, {}),
  /** How much longer each piece of text takes to its first audio. */
  slow_first_byte_ms: ms,
  /** Audio is not told what it says. */
  no_alignment: boolean,
}

const voiceFaultPlans = list(object({}, { ...switches, streams: list(integer(1, COUNT_MAX)) }))
const voiceFaults = object({}, switches)

/** What goes wrong in a stream of speech, by switch; an absent switch is off. */
export type VoiceFaults = Shaped<typeof voiceFaults>
/** Faults for some streams: those whose ordinal (attempts counted from 1 since the faults were set) is in `streams`, else all. */
export type VoiceFaultPlan = Shaped<typeof voiceFaultPlans>[number]

/** Checks faults for streams to come. @throws ModelError that names the field. */
export function readVoiceFaultPlans(value: unknown, path: string): VoiceFaultPlan[] {
  return voiceFaultPlans(value, path)
}

/** The faults of streams that are yet to open. */
export class VoiceFaultSwitches {
  #plans: VoiceFaultPlan[] = []
  #attempts = 0

  /** Replaces all faults; the counting of streams begins anew. */
  set(plans: VoiceFaultPlan[]): void {
    this.#plans = plans
    this.#attempts = 0
  }

  /** The faults of a stream about to open. */
  forNextStream(): VoiceFaults {
    this.#attempts++
    const mine = this.#plans.filter(({ streams }) => !streams || streams.includes(this.#attempts))
    const { streams: _, ...faults }: VoiceFaultPlan = Object.assign({}, ...mine)
    return faults
  }
}
