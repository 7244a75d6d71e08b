import type { Cancel, Clock } from '../../src/kernel/clock.ts'
import { callerFrame, FRAME_MS } from './audio.ts'

/** When the caller does the next thing: once the agent has fallen silent (after certain words), or while it speaks. */
export type Cue = { afterSilenceMs: number; words?: RegExp } | { intoSpeechMs: number } | { afterMs: number }

export type Act =
  | { cue: Cue; say: string; forMs: number }
  | { cue: Cue; press: string }
  /** A sound without words. */
  | { cue: Cue; cough: number }
  | { cue: Cue; hangUp: true }

type Deps = {
  clock: Clock
  /** What the agent is heard saying now; null while it is quiet. */
  hear(): string | null
  frame(payload: Buffer): void
  press(digit: string): void
  hangUp(): void
}

const BETWEEN_KEYS_MS = 200
/** An agent that says nothing for this long will not come to speak any more: the caller does not wait for a cue. */
const PATIENCE_MS = 25_000
/** Asked to say it again by this, a caller does. */
const AGAIN = /again\?/
const MAX_REPEATS = 3

/** A caller who keeps to a script, listens, and says a thing again when asked to. */
export class VirtualCaller {
  readonly #deps: Deps
  readonly #script: readonly Act[]
  readonly #stop: Cancel
  #next = 0
  #sound = -1
  /** What the caller is busy with; `sound` is null for what nobody hears. */
  #busy: { sound: number | null; untilMs: number } | null = null
  #lastSaid: Extract<Act, { say: string }> | null = null
  #repeats = 0
  #agentSinceMs: number | null = null
  #quietSinceMs = 0
  #hasHeard = false
  #lastWords = ''
  #actedAtMs = 0
  /** Each thing that was said: when it began and ended, and what it was. */
  readonly utterances: { startMs: number; endMs: number; text: string }[] = []

  constructor(deps: Deps, script: readonly Act[]) {
    this.#deps = deps
    this.#script = script
    this.#stop = deps.clock.every(FRAME_MS, () => this.#tick())
  }

  stop(): void {
    this.#stop()
  }

  wordsOf(sound: number): string {
    return this.utterances[sound]?.text ?? ''
  }

  #tick(): void {
    const nowMs = this.#deps.clock.monotonicMs()
    if (this.#busy && nowMs >= this.#busy.untilMs) this.#ready()
    this.#listen(nowMs)
    this.#deps.frame(callerFrame(this.#busy?.sound ?? null))
    if (!this.#busy) this.#act(nowMs)
  }

  /** What the agent said before the caller was done is no answer. */
  #ready(): void {
    this.#busy = null
    this.#hasHeard = false
    this.#lastWords = ''
  }

  #listen(nowMs: number): void {
    const words = this.#deps.hear()
    if (words === null) {
      if (this.#agentSinceMs !== null) this.#quietSinceMs = nowMs
      this.#agentSinceMs = null
      return
    }
    this.#agentSinceMs ??= nowMs
    this.#hasHeard = true
    this.#lastWords = words
  }

  #act(nowMs: number): void {
    if (this.#isAskedAgain(nowMs)) return this.#repeat(nowMs)
    const act = this.#script[this.#next]
    if (!act || !this.#isDue(act.cue, nowMs)) return
    this.#next += 1
    this.#actedAtMs = nowMs
    if ('say' in act) this.#say(act, nowMs)
    else if ('cough' in act) this.#utter('', act.cough, nowMs)
    else if ('press' in act) this.#press(act.press, nowMs)
    else this.#deps.hangUp()
  }

  #isAskedAgain(nowMs: number): boolean {
    const isAsked = this.#hasHeard && AGAIN.test(this.#lastWords) && this.#lastSaid !== null
    return isAsked && this.#repeats < MAX_REPEATS && this.#agentSinceMs === null && nowMs - this.#quietSinceMs >= 500
  }

  #repeat(nowMs: number): void {
    this.#repeats += 1
    this.#actedAtMs = nowMs
    if (this.#lastSaid) this.#say(this.#lastSaid, nowMs)
  }

  #isDue(cue: Cue, nowMs: number): boolean {
    const waitedMs = nowMs - Math.max(this.#actedAtMs, this.utterances.at(-1)?.endMs ?? 0)
    if ('afterMs' in cue) return waitedMs >= cue.afterMs
    const quietMs = this.#agentSinceMs === null ? nowMs - this.#quietSinceMs : 0
    if ('intoSpeechMs' in cue) {
      const isInto = this.#agentSinceMs !== null && nowMs - this.#agentSinceMs >= cue.intoSpeechMs
      // It was over before there was anything to talk into.
      return isInto || (this.#hasHeard && quietMs >= 3_000) || waitedMs >= PATIENCE_MS
    }
    const hasHeard = this.#hasHeard && (cue.words?.test(this.#lastWords) ?? true)
    return (hasHeard && quietMs >= cue.afterSilenceMs) || waitedMs >= PATIENCE_MS
  }

  #say(act: Extract<Act, { say: string }>, nowMs: number): void {
    this.#lastSaid = act
    this.#utter(act.say, act.forMs, nowMs)
  }

  #utter(text: string, forMs: number, nowMs: number): void {
    this.#sound += 1
    this.utterances.push({ startMs: nowMs, endMs: nowMs + forMs, text })
    this.#busy = { sound: this.#sound, untilMs: nowMs + forMs }
  }

  #press(digits: string, nowMs: number): void {
    this.#lastSaid = null
    this.#busy = { sound: null, untilMs: nowMs + digits.length * BETWEEN_KEYS_MS }
    for (const [index, digit] of [...digits].entries()) {
      this.#deps.clock.after(index * BETWEEN_KEYS_MS, () => this.#deps.press(digit))
    }
  }
}
