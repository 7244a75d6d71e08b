import { FRAME_BYTES, FRAME_MS, SILENCE } from '../audio/mulaw.ts'
import { keyFrequenciesHz } from '../audio/tone.ts'
import type { Speech } from '../speech/speech.ts'
import type { CallerScript, CallerStep, When } from './caller-script.ts'
import { Ear } from './ear.ts'

const USUAL_PATIENCE_MS = 20_000
// A pressed key lasts this long, and so does the pause after it; the line carries silence meanwhile.
const KEY_MS = 160
const KEY_PAUSE_MS = 500
// Who adds steps to a call that goes on may not add them without end.
const MOST_STEPS_ADDED = 100

/** What a caller does that is more than sound. */
export type CallerWatcher = {
  pressed(key: string): void
  hungUp(reason: 'script' | 'gave-up'): void
  /** The caller begins to say something; `text` is null for another sound. */
  speaks(text: string | null): void
  stopped(): void
  agentBegan(): void
  agentEnded(): void
}

/** A step with its sound ready. */
export type ReadyStep = { step: CallerStep; audio: Uint8Array }

/** Makes ready what a script says, so that no voice is waited for during the call. Throws when the voice fails. */
export async function prepareCaller(
  script: CallerScript,
  speech: Speech,
): Promise<(watcher: CallerWatcher) => ScriptedCaller> {
  const steps = await Promise.all(script.steps.map((step) => prepareStep(step, script, speech)))
  return (watcher) => new ScriptedCaller(script, steps, watcher)
}

/** Makes ready what one step of a party says. Throws when the voice fails. */
export async function prepareStep(step: CallerStep, script: CallerScript, speech: Speech): Promise<ReadyStep> {
  return { step, audio: await soundOf(step, script, speech) }
}

/**
 * A caller at the telephone: moved every 20 ms, it gives its voice and hears the line. It has no timer of its own.
 */
export class ScriptedCaller {
  #script: CallerScript
  #steps: ReadyStep[]
  #watcher: CallerWatcher
  #ear = new Ear()
  #nowMs = 0
  #stepSinceMs = 0
  #sounding: { audio: Uint8Array; at: number } | null = null
  #keys: { waiting: string[]; nextMs: number } | null = null
  #gone = false

  constructor(script: CallerScript, steps: ReadyStep[], watcher: CallerWatcher) {
    this.#script = script
    this.#steps = [...steps]
    this.#watcher = watcher
  }

  /** One more step, behind those that are left. False when a hundred wait already: then it is not taken. */
  add(ready: ReadyStep): boolean {
    if (this.#steps.length >= MOST_STEPS_ADDED) return false
    this.#steps.push(ready)
    return true
  }

  /** The next 20 ms of the caller's voice. */
  speak(): Uint8Array {
    this.#nowMs += FRAME_MS
    if (!this.#gone && !this.#sounding && !this.#keys) this.#considerNext()
    if (this.#keys) this.#pressNext()
    return this.#sounding ? this.#nextFrame(this.#sounding) : new Uint8Array(FRAME_BYTES).fill(SILENCE)
  }

  /** The 20 ms of the line that the caller hears. */
  hear(frame: Uint8Array): void {
    const change = this.#ear.hear(frame)
    if (change === 'began') this.#watcher.agentBegan()
    if (change === 'ended') this.#watcher.agentEnded()
  }

  /** The agent was cut short: what it said before is no answer to anything the caller says now. */
  agentWasCut(): void {
    if (this.#ear.cut()) this.#watcher.agentEnded()
  }

  #considerNext(): void {
    const ready = this.#steps[0]
    if (!ready) {
      if (this.#script.hangsUpAtEnd) this.#hangUp('script')
    } else if (this.#isTime(ready.step.when)) {
      this.#steps.shift()
      this.#begin(ready)
    } else if (this.#waitsForAgent(ready.step.when) && this.#isOutOfPatience()) {
      this.#hangUp('gave-up')
    }
  }

  #isTime(when: When): boolean {
    switch (when.kind) {
      case 'after-agent':
        return this.#ear.hasSpoken && this.#ear.quietMs >= when.quietMs
      case 'over-agent':
        return this.#ear.freshUtteranceMs >= Math.max(FRAME_MS, when.intoMs)
      case 'at':
        return this.#nowMs >= when.atMs
      case 'then':
        return this.#waitedMs() >= when.delayMs
    }
  }

  #begin({ step, audio }: ReadyStep): void {
    switch (step.does.kind) {
      case 'say':
      case 'sound':
        this.#sounding = { audio, at: 0 }
        return this.#watcher.speaks(step.does.kind === 'say' ? step.does.text : null)
      case 'press':
        this.#keys = { waiting: [...step.does.keys], nextMs: this.#nowMs }
        return
      case 'hang-up':
        return this.#hangUp('script')
      case 'nothing':
        return this.#stepDone()
    }
  }

  #nextFrame(sounding: { audio: Uint8Array; at: number }): Uint8Array {
    const frame = new Uint8Array(FRAME_BYTES).fill(SILENCE)
    frame.set(sounding.audio.subarray(sounding.at, sounding.at + FRAME_BYTES))
    sounding.at += FRAME_BYTES
    if (sounding.at >= sounding.audio.length) {
      this.#sounding = null
      this.#watcher.stopped()
      this.#stepDone()
    }
    return frame
  }

  #pressNext(): void {
    if (!this.#keys || this.#nowMs < this.#keys.nextMs) return
    const key = this.#keys.waiting.shift()
    if (key === undefined) {
      this.#keys = null
      return this.#stepDone()
    }
    const isKey = keyFrequenciesHz(key) !== null
    this.#keys.nextMs = this.#nowMs + (isKey ? KEY_MS : KEY_PAUSE_MS)
    if (isKey) this.#watcher.pressed(key)
  }

  #stepDone(): void {
    this.#stepSinceMs = this.#nowMs
    // What the agent said until now was said before the caller was done: no answer to it.
    this.#ear.forget()
  }

  #hangUp(reason: 'script' | 'gave-up'): void {
    this.#gone = true
    this.#watcher.hungUp(reason)
  }

  #waitsForAgent(when: When): boolean {
    return when.kind === 'after-agent' || when.kind === 'over-agent'
  }

  #waitedMs(): number {
    return this.#nowMs - this.#stepSinceMs
  }

  #isOutOfPatience(): boolean {
    // Nobody hangs up on an agent that is still talking.
    const silentMs = Math.min(this.#waitedMs(), this.#ear.quietMs)
    return silentMs > (this.#script.patienceMs ?? USUAL_PATIENCE_MS)
  }
}

async function soundOf({ does }: CallerStep, { voice }: CallerScript, speech: Speech): Promise<Uint8Array> {
  if (does.kind === 'say') return speech.say(does.text, does.voice ?? voice)
  return does.kind === 'sound' ? does.audio : new Uint8Array()
}
