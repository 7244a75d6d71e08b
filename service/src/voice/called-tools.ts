import type { Cancel, Clock } from '../kernel/clock.ts'
import type { SessionState } from './session/state.ts'

/** A model calls its tools in one go: one that has not said by then that its answer is over goes on with it for another reason, or says it never. */
const CALLED_WITHIN_MS = 2_000

/** Lets what takes the call from its agent wait for the other tools which the same answer calls. */
export class CalledTools {
  readonly #clock: Clock
  readonly #state: () => SessionState
  readonly #waiting = new Set<() => void>()

  constructor(clock: Clock, state: () => SessionState) {
    this.#clock = clock
    this.#state = state
  }

  get held(): string[] {
    return this.#waiting.size === 0 ? [] : ['a wait for tools']
  }

  /** Resolves once no answer is being made that has called a tool, after two seconds at the latest, and at the end of the call. */
  areAll(): Promise<void> {
    if (!mayCallMore(this.#state())) return Promise.resolve()
    return new Promise((resolve) => {
      let cancel: Cancel = () => {}
      const over = () => {
        cancel()
        this.#waiting.delete(over)
        resolve()
      }
      cancel = this.#clock.after(CALLED_WITHIN_MS, over)
      this.#waiting.add(over)
    })
  }

  /** Looked at after each event. */
  follow(): void {
    if (this.#waiting.size > 0 && !mayCallMore(this.#state())) this.close()
  }

  close(): void {
    for (const over of [...this.#waiting]) over()
  }
}

/** What a second voice has yet to speak of an answer is no more of its model's. */
function mayCallMore({ answers: { active }, secondVoice: { stream }, phase }: SessionState): boolean {
  const isWritten = stream?.done != null && stream.of?.responseId === active?.responseId
  return active?.hasTool === true && !isWritten && phase !== 'ended'
}
