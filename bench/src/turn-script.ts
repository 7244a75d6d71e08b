/** What the caller does next, as the model's server hears it. `isBargeIn`: the answer before still plays, so a `clear` is owed. */
export type TurnStep =
  | { kind: 'speech_started'; turn: number; isBargeIn: boolean }
  | { kind: 'speech_ended'; turn: number }
  | { kind: 'transcribed'; turn: number }

/** From a call's start to its first possible turn: until then its greeting plays. */
export const GREETING_MS = 5_500
/** When the steps of a turn are due, counted from its beginning. */
const STEPS_MS = [0, 400, 900]
/** 0.5 s until the first delta of the answer, then 5 s of audio, then half a second in which nobody speaks. */
const TURN_MS = 6_000
/** The caller cuts in when 2 s of the answer have played. */
const CUT_TURN_MS = 2_500
/** Every so many turns, one is cut. */
export const CUT_EVERY = 3

/**
 * The caller's side of a conversation: speaks, hears the answer to its end, speaks again, and cuts every third answer off.
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
    if (this.isOver || nowMs < this.#turnAtMs + (STEPS_MS[this.#step] ?? 0)) return undefined
    const turn = this.#turn
    const step = this.#step
    this.#step += 1
    if (step === 0) return { kind: 'speech_started', turn, isBargeIn: turn > this.#firstTurn && isCut(turn - 1) }
    if (step === 1) return { kind: 'speech_ended', turn }
    this.#step = 0
    this.#turn += 1
    this.#turnAtMs += isCut(turn) ? CUT_TURN_MS : TURN_MS
    return { kind: 'transcribed', turn }
  }
}

function isCut(turn: number): boolean {
  return turn % CUT_EVERY === CUT_EVERY - 1
}
