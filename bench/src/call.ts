import { FRAME_MS } from './audio.ts'
import { SequenceCheck } from './sequence-check.ts'
import { nowUs, type Tally } from './tally.ts'
import { CUT_EVERY, TurnScript } from './turn-script.ts'

/** How long the last audio and the last `clear` may take to arrive before they count as lost. */
const SETTLE_MS = 5_000
/** First turns are spread over about one turn, by the golden ratio: neighbours in number are far apart in time. */
const FIRST_TURN_SPREAD_MS = 4_000
const GOLDEN = 0.618_033_988_75

/** The model's end of a call: acts when its time has come. `isQuiet`: it says nothing, and owes nothing. */
export type ModelEnd = { readonly isQuiet: boolean; beat(call: Call, nowMs: number): void }

/** One call as the load knows it, because it holds both ends: what was sent on one side and what came on the other. */
export class Call {
  readonly id: number
  /** Its ids at the carrier. */
  readonly sid: string
  readonly streamSid: string
  /** Caller frames as the model got them. */
  readonly up = new SequenceCheck()
  /** Model deltas as the caller got them. */
  readonly down = new SequenceCheck()
  readonly script: TurnScript
  framesSent = 0
  deltasSent = 0
  /** Answers that were begun so far. */
  answers = 0
  /** When it began to ring (µs). */
  readonly rungUs = nowUs()
  /** When the model said that the caller cut in, while its `clear` is outstanding (µs). */
  bargeInUs: number | undefined
  /** When the caller's last turn was told to be over (µs), while nobody has asked for its answer. */
  #endedUs: number | undefined
  /** From the end of that turn to the request for its answer (µs), while nothing of it was heard. */
  #askUs: number | undefined
  /** What carries this call at the model: set by its first stamped frame. */
  modelEnd: ModelEnd | undefined
  #endingSinceMs: number | undefined

  /**
   * `run`: 24 hex digits that make the ids of this run's calls different from every other's. `firstTurnMs`: when its caller
   * may speak at the earliest.
   */
  constructor(id: number, run: string, firstTurnMs: number) {
    this.id = id
    const unique = `${run}${id.toString(16).padStart(8, '0')}`
    this.sid = `CA${unique}`
    this.streamSid = `MZ${unique}`
    this.script = new TurnScript(id % CUT_EVERY, firstTurnMs + ((id * GOLDEN) % 1) * FIRST_TURN_SPREAD_MS)
  }

  /** The caller's turn is over; `isOwed`: the model waits to be asked for the answer. */
  turnEnded(atUs: number, isOwed: boolean): void {
    this.#endedUs = isOwed ? atUs : undefined
    this.#askUs = isOwed ? undefined : 0
  }

  /** The model was asked for the answer. */
  turnAsked(atUs: number): void {
    if (this.#endedUs !== undefined) this.#askUs = atUs - this.#endedUs
    this.#endedUs = undefined
  }

  /** The answer's first delta was `deltaUs` on its way: what the system under test took of the turn (µs); undefined of what is no answer to one. */
  turnAnswered(deltaUs: number): number | undefined {
    const askUs = this.#askUs
    this.#askUs = undefined
    return askUs === undefined ? undefined : askUs + deltaUs
  }

  /** How much of the caller's audio the model has heard, in ms. */
  get heardMs(): number {
    return this.up.received * FRAME_MS
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
    // A call that ends before its model was reached is still on its way to it.
    if (this.modelEnd === undefined) return false
    if (!this.script.isOver || !this.modelEnd.isQuiet) return false
    return this.down.received >= this.deltasSent && this.bargeInUs === undefined
  }

  /** Adds the call's balance to the tally: what was sent and never came is lost. */
  close(tally: Tally): void {
    tally.callOver(this.up.balance(this.framesSent), this.down.balance(this.deltasSent))
    if (this.bargeInUs !== undefined) tally.faults.clearsMissing += 1
  }
}
