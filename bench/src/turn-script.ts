/** What the model does next. `isBargeIn`: the caller speaks while the answer before still plays, so a `clear` is owed. */
export type TurnStep =
  | { kind: 'speech_started'; turn: number; isBargeIn: boolean }
  | { kind: 'answer_started'; turn: number }
  | { kind: 'delta'; turn: number; isFirst: boolean }
  | { kind: 'answer_done'; turn: number }

/** Deltas in an answer. */
export const DELTAS_PER_TURN = 10
const DELTA_PERIOD_MS = 60
const SPEECH_MS = 400
const THINK_MS = 100
/** 0.5 s until the first delta, then 5 s of audio, then half a second in which nobody speaks. */
const TURN_MS = 6_000
/** The caller cuts in when 2 s of the answer have played. */
const CUT_TURN_MS = 2_500
/** Every so many turns, one is cut. */
export const CUT_EVERY = 3

/**
 * One call's conversation, as the model's server lives it: the caller speaks, ten deltas answer faster than they
 * play, and the playback of every third answer is cut by the caller's next words.
 *
 * Pure: asked with the time in ms, it says what is due.
 */
export class TurnScript {
  readonly #firstTurn: number
  #turn: number
  #step = 0
  #turnAtMs: number
  #isEnding = false

  /** `firstTurn`: the number of the turn it begins with, 0 to 2, so that calls differ in which of their turns is cut. */
  constructor(firstTurn: number, firstTurnAtMs: number) {
    this.#firstTurn = firstTurn
    this.#turn = firstTurn
    this.#turnAtMs = firstTurnAtMs
  }

  /** Lets the turn that runs come to its end and starts no other. */
  end(): void {
    this.#isEnding = true
  }

  /** Whether it was told to end and no turn is running. */
  get isOver(): boolean {
    return this.#isEnding && this.#step === 0
  }

  /** The step that is due at `nowMs`, each once, in order; ask again until there is none. */
  due(nowMs: number): TurnStep | undefined {
    if (this.isOver || nowMs < this.#turnAtMs + offsetMs(this.#step)) return undefined
    const turn = this.#turn
    const step = this.#step
    this.#step += 1
    if (step === 0) return { kind: 'speech_started', turn, isBargeIn: turn > this.#firstTurn && isCut(turn - 1) }
    if (step === 1) return { kind: 'answer_started', turn }
    if (step < 2 + DELTAS_PER_TURN) return { kind: 'delta', turn, isFirst: step === 2 }
    this.#step = 0
    this.#turn += 1
    this.#turnAtMs += isCut(turn) ? CUT_TURN_MS : TURN_MS
    return { kind: 'answer_done', turn }
  }
}

function isCut(turn: number): boolean {
  return turn % CUT_EVERY === CUT_EVERY - 1
}

function offsetMs(step: number): number {
  if (step === 0) return 0
  if (step === 1) return SPEECH_MS
  return SPEECH_MS + THINK_MS + (step - 2) * DELTA_PERIOD_MS
}
