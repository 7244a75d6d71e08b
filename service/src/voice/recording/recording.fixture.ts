import type { TestClock } from '../../../test/harness/clock.ts'
import { cleared, echoed, type Playback, sent } from '../playback.ts'
import { planWith } from '../session/call.fixture.ts'
import { newSession, type SessionState } from '../session/state.ts'
import { type BlockSink, CallRecorder } from './recorder.ts'

const FRAMES_PER_MS = 8
const SILENCE = 0xff
/** Two seconds are held back, and a second may pass until the next write. */
const UNTIL_WRITTEN_MS = 3_000

/** `ms` of one sound, as base64 µ-law. */
export function sound(byte: number, ms = 20): Buffer {
  return Buffer.from(Buffer.alloc(ms * FRAMES_PER_MS, byte).toString('base64'))
}

/** A stretch of one sound on one side, in ms of the recording. */
type Stretch = [byte: number, fromMs: number, untilMs: number]

/** A recorder, the session that it follows, and the disk that it writes to. */
export class RecordedCall {
  readonly clock: TestClock
  readonly recorder: CallRecorder
  readonly troubles: unknown[] = []
  ended: { startedAt: Date; frames: number } | null = null
  opened = 0
  /** Rejects or never ends when the test wants a bad disk. */
  disk: () => Promise<void> = async () => {}
  #state: SessionState
  #blocks: Uint8Array[] = []
  #marks = 0

  constructor(clock: TestClock, { isPaused = false, waitedMs = 0 } = {}) {
    this.clock = clock
    this.#state = newSession(planWith(), clock.monotonicMs())
    this.recorder = new CallRecorder({
      ...{ clock, isPaused, startMs: clock.monotonicMs() - waitedMs },
      open: async () => {
        this.opened += 1
        return this.#sink()
      },
      ended: async (startedAt, frames) => {
        this.ended = { startedAt, frames }
      },
      trouble: (error) => void this.troubles.push(error),
    })
  }

  #sink(): BlockSink {
    return {
      write: async (block) => {
        const copy = Uint8Array.from(block)
        await this.disk()
        this.#blocks.push(copy)
      },
      close: async () => {},
    }
  }

  /** The caller makes a sound for so long, a frame every 20 ms. */
  async caller(byte: number, ms: number): Promise<void> {
    for (let at = 0; at < ms; at += 20) {
      await this.clock.advance(20)
      this.recorder.caller(sound(byte))
    }
  }

  /** The agent's audio leaves, all at once. Returns the name of the mark behind it. */
  agent(byte: number, ms: number): string {
    this.#marks += 1
    const mark = `m${this.#marks}`
    this.recorder.agent(sound(byte, ms))
    this.#play((playback, nowMs) => sent(playback, { itemId: 'i', responseId: 'r', ms, mark }, nowMs))
    return mark
  }

  echo(mark: string): void {
    this.#play((playback, nowMs) => echoed(playback, mark, nowMs))
  }

  /** The agent is interrupted. */
  clear(): void {
    this.#play(cleared)
  }

  /** The carrier is gone. */
  hangUp(): void {
    const carrierGoneAtMs = this.clock.monotonicMs()
    this.#follow({ ...this.#state, carrierGoneAtMs, playback: cleared(this.#state.playback) })
  }

  #play(change: (playback: Playback, nowMs: number) => Playback): void {
    this.#follow({ ...this.#state, playback: change(this.#state.playback, this.clock.monotonicMs()) })
  }

  #follow(after: SessionState): void {
    this.recorder.follow(this.#state, after)
    this.#state = after
  }

  /** Lets all that was heard so far be written. */
  async settle(): Promise<void> {
    await this.clock.advance(UNTIL_WRITTEN_MS)
  }

  get left(): Stretch[] {
    return stretches(this.#channel(0))
  }

  get right(): Stretch[] {
    return stretches(this.#channel(1))
  }

  get writtenMs(): number {
    return this.#channel(0).length / FRAMES_PER_MS
  }

  #channel(offset: number): Uint8Array {
    const whole = Buffer.concat(this.#blocks)
    return Uint8Array.from({ length: whole.length / 2 }, (_, frame) => whole[2 * frame + offset] ?? 0)
  }
}

/** Where there is sound, and which. */
function stretches(channel: Uint8Array): Stretch[] {
  const found: Stretch[] = []
  let from = 0
  for (let at = 1; at <= channel.length; at++) {
    if (channel[at] === channel[from]) continue
    const byte = channel[from] ?? SILENCE
    if (byte !== SILENCE) found.push([byte, from / FRAMES_PER_MS, at / FRAMES_PER_MS])
    from = at
  }
  return found
}
