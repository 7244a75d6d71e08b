import { SequenceCheck } from './sequence-check.ts'
import type { Tally } from './tally.ts'
import { CUT_EVERY, TurnScript } from './turn-script.ts'

/** How long the last audio and the last `clear` may take to arrive before they count as lost. */
const SETTLE_MS = 5_000
/** First turns are spread over about one turn, by the golden ratio: neighbours in number are far apart in time. */
const FIRST_TURN_SPREAD_MS = 4_000
const GOLDEN = 0.618_033_988_75

/** The model's end of a call: acts when its time has come. */
export type ModelEnd = { beat(call: Call, nowMs: number): void }

/** One call as the load knows it, because it holds both ends: what was sent on one side and what came on the other. */
export class Call {
  readonly id: number
  /** Caller frames as the model got them. */
  readonly up = new SequenceCheck()
  /** Model deltas as the caller got them. */
  readonly down = new SequenceCheck()
  readonly script: TurnScript
  framesSent = 0
  deltasSent = 0
  /** When the model said that the caller cut in, while its `clear` is outstanding (µs). */
  bargeInUs: number | undefined
  /** What carries this call at the model: set by its first stamped frame. */
  modelEnd: ModelEnd | undefined
  #endingSinceMs: number | undefined

  constructor(id: number, nowMs: number) {
    this.id = id
    this.script = new TurnScript(id % CUT_EVERY, nowMs + ((id * GOLDEN) % 1) * FIRST_TURN_SPREAD_MS)
  }

  /** Whether it was told to end. */
  get isEnding(): boolean {
    return this.#endingSinceMs !== undefined
  }

  /** Lets the conversation come to its end. */
  end(nowMs: number): void {
    this.#endingSinceMs ??= nowMs
    this.script.end()
  }

  /** Whether the caller may hang up: the conversation is over and everything sent has come, or had its time. */
  isSettled(nowMs: number): boolean {
    if (this.#endingSinceMs === undefined) return false
    if (nowMs - this.#endingSinceMs > SETTLE_MS) return true
    if (this.modelEnd === undefined) return true
    return this.script.isOver && this.down.received >= this.deltasSent && this.bargeInUs === undefined
  }

  /** Adds the call's balance to the tally: what was sent and never came is lost. */
  close(tally: Tally): void {
    tally.callOver(this.up.balance(this.framesSent), this.down.balance(this.deltasSent))
    if (this.bargeInUs !== undefined) tally.faults.clearsMissing += 1
  }
}
