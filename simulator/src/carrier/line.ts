import { KeyDetector } from '../audio/key-detector.ts'
import type { CallerWatcher, ReadyStep, ScriptedCaller } from './caller.ts'
import type { Clock } from './clock.ts'
import { type FarEnd, NOBODY } from './far-end.ts'
import { startPacer } from './pacer.ts'
import type { Random } from './random.ts'
import { CallRecording } from './recording.ts'
import type { Timeline } from './timeline.ts'

/** What a line is made of. `makeCaller` seats the party at it. */
export type LineParts = {
  clock: Clock
  random: Random
  jitterMs: () => number
  timeline: Timeline
  makeCaller: (watcher: CallerWatcher) => ScriptedCaller
  /** The party put the receiver down. */
  onHangUp: (reason: 'script' | 'gave-up') => void
}

/**
 * A party's line from the answer to the end: every 20 ms the party speaks and hears, whoever stands at the far end,
 * and both directions are recorded.
 */
export class Line {
  readonly recording = new CallRecording()
  #parts: LineParts
  #caller: ScriptedCaller
  #keyDetector = new KeyDetector()
  #farEnd: FarEnd = NOBODY
  #stop: (() => void) | null = null

  constructor(parts: LineParts) {
    this.#parts = parts
    const { timeline } = parts
    this.#caller = parts.makeCaller({
      pressed: (key) => this.#press(key),
      hungUp: (reason) => parts.onHangUp(reason),
      speaks: (text) => timeline.add({ kind: 'caller-began', text }),
      stopped: () => timeline.add({ kind: 'caller-ended' }),
      agentBegan: () => timeline.add({ kind: 'agent-began' }),
      agentEnded: () => timeline.add({ kind: 'agent-ended' }),
    })
  }

  /** Begins to carry sound. */
  start(): void {
    const { clock, random, jitterMs } = this.#parts
    this.#stop ??= startPacer({ clock, random, jitterMs, tick: () => this.#tick() })
  }

  /** Ends it. Repeats change nothing. */
  stop(): void {
    this.#stop?.()
    this.#farEnd = NOBODY
  }

  /** Puts somebody else at the far end. */
  connect(farEnd: FarEnd): void {
    this.#farEnd = farEnd
  }

  /** The party does something more, behind what it has still to do. False when too much waits already. */
  add(step: ReadyStep): boolean {
    return this.#caller.add(step)
  }

  /** What the far end had to say was cut off. */
  agentWasCut(): void {
    this.#caller.agentWasCut()
  }

  #tick(): void {
    const voice = this.#caller.speak()
    const heard = this.#farEnd.exchange(voice)
    this.recording.add(voice, heard)
    this.#caller.hear(heard.frame)
    const key = this.#keyDetector.hear(heard.frame)
    if (key) this.#parts.timeline.add({ kind: 'heard-key', key })
  }

  #press(key: string): void {
    this.#parts.timeline.add({ kind: 'key', key })
    this.#farEnd.key(key)
  }
}
