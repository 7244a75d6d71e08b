import type { AnswerIds } from './model-events.ts'

/** What the model does next in an answer. */
export type AnswerStep = { kind: 'delta'; isFirst: boolean } | { kind: 'done' }

/** Deltas in an answer: half a second of audio each. */
export const DELTAS_PER_ANSWER = 10
const DELTA_PERIOD_MS = 60
/** Until the first delta, where nothing else is asked for. */
export const THINK_MS = 100

/**
 * One answer of the model: some thought, as a rule a tenth of a second, then ten deltas, faster than they play.
 *
 * Pure: asked with the time in ms, it says what is due.
 */
export class AnswerScript {
  readonly ids: AnswerIds
  readonly #firstDeltaMs: number
  #step = 0

  constructor(ids: AnswerIds, startMs: number, thinkMs = THINK_MS) {
    this.ids = ids
    this.#firstDeltaMs = startMs + thinkMs
  }

  /** The step that is due at `nowMs`, each once, in order; ask again until there is none. */
  due(nowMs: number): AnswerStep | undefined {
    const step = this.#step
    if (step > DELTAS_PER_ANSWER || nowMs < this.#firstDeltaMs + step * DELTA_PERIOD_MS) return undefined
    this.#step += 1
    return step === DELTAS_PER_ANSWER ? { kind: 'done' } : { kind: 'delta', isFirst: step === 0 }
  }
}
