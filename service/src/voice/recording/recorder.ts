import type { Cancel, Clock } from '../../kernel/clock.ts'
import { FRAMES_PER_MS, FRAMES_PER_SECOND, SILENCE, STORED_FRAME_BYTES } from '../../records/recording-wav.ts'
import { lineHeardMs } from '../playback.ts'
import type { SessionState } from '../session/state.ts'
import { AgentTrack } from './agent-track.ts'
import { CallerTrack } from './caller-track.ts'

/** Where the blocks of a recording go, one behind the other. */
export type BlockSink = {
  /** @throws the system's error; the block may be written again. */
  write(block: Uint8Array): Promise<void>
  close(): Promise<void>
}

export type RecorderDeps = {
  clock: Clock
  /** Where its line of time begins, monotonic: when the carrier's `start` came. Default: now. */
  startMs?: number
  /** Nothing is to be in it until `pause(false)`, not what was said before it was made either. Default: all of it is. */
  isPaused?: boolean
  /** Asked once there is something to write; asked again when it failed. @param startedAt of the first frame. */
  open(startedAt: Date): Promise<BlockSink>
  /** Nothing more will be written: so many frames were. Never rejects. */
  ended(startedAt: Date, frames: number): Promise<void>
  /** Told once: audio is being lost, or may be. Never throws. */
  trouble(error: unknown): void
}

/** Between two writes. */
const TICK_MS = 1_000
/** Written behind by this much: until then a frame may still come, and what was sent may turn out not to be heard. */
const HOLD_FRAMES = 2 * FRAMES_PER_SECOND
/** A disk that is behind by more loses audio; less than the caller's track can hold, by the time between two looks at it. */
const MAX_BEHIND_FRAMES = 6 * FRAMES_PER_SECOND
/** So much the caller's track can hold: of a process that stood still, and has a disk that takes it all. */
const MAX_UNWRITTEN_FRAMES = 8 * FRAMES_PER_SECOND
const BLOCK_FRAMES = FRAMES_PER_SECOND

/** A stretch of time that is silent on both sides. */
type Mute = { from: number; until: number }

/**
 * Records one stream of a call: the caller on the left, on the right the agent as the caller heard it.
 *
 * Its line of time is the session's clock, in frames of 1/8,000 s since the carrier's `start`. Frames are only copied into memory;
 * once a second what is two seconds old is written by the way. Nothing here ever holds up the call: a disk that cannot keep
 * up costs the recording some silence.
 */
export class CallRecorder {
  readonly #deps: RecorderDeps
  readonly #caller = new CallerTrack()
  readonly #agent = new AgentTrack()
  readonly #block = new Uint8Array(BLOCK_FRAMES * STORED_FRAME_BYTES)
  readonly #stopTicking: Cancel
  #mutes: Mute[] = []
  #startMs: number
  #startedAt: Date | null = null
  #sink: BlockSink | null = null
  #written = 0
  #endsAt: number | null = null
  #writing: Promise<void> | null = null
  #closing: Promise<void> | null = null
  #isInTrouble = false

  constructor(deps: RecorderDeps) {
    this.#deps = deps
    this.#startMs = deps.startMs ?? deps.clock.monotonicMs()
    if (deps.isPaused) this.#mutes = [{ from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY }]
    this.#stopTicking = deps.clock.every(TICK_MS, () => this.#tick())
  }

  /** One frame of the caller, as base64 µ-law: a view that is only valid now. */
  caller(payload: Buffer): void {
    if (this.#endsAt !== null) return
    const aheadBy = this.#caller.add(payload, this.#now())
    // What was said before the stream's start came was held up on its way: the recording begins where it was said.
    if (aheadBy > 0 && this.#startedAt === null) this.#beginEarlier(aheadBy)
  }

  #beginEarlier(frames: number): void {
    this.#startMs -= frames / FRAMES_PER_MS
    this.#agent.moveBy(frames)
    this.#mutes = this.#mutes.map(({ from, until }) => ({ from: from + frames, until: until + frames }))
  }

  /** Audio that leaves for the caller, as base64 µ-law: a view that is only valid now. */
  agent(payload: Buffer): void {
    if (this.#endsAt === null) this.#agent.add(payload, this.#now())
  }

  /** What an event of the session changes in what is known of the agent's play-out. */
  follow(before: SessionState, after: SessionState): void {
    const [was, is] = [before.playback, after.playback]
    if (was !== is) {
      if (is.sentMs < was.sentMs) this.#agent.cut(lineHeardMs(was, this.#deps.clock.monotonicMs()) * FRAMES_PER_MS)
      else if (is.confirmedMs > was.confirmedMs)
        this.#agent.confirm(is.confirmedMs * FRAMES_PER_MS, this.#frameAt(is.echoedMs))
    }
    if (before.carrierGoneAtMs === null && after.carrierGoneAtMs !== null) this.#end()
  }

  /** While paused both sides are silent, and time goes on. Again, it changes nothing. */
  pause(isPaused: boolean): void {
    const last = this.#mutes.at(-1)
    const wasPaused = last?.until === Number.POSITIVE_INFINITY
    if (isPaused === wasPaused) return
    if (isPaused) this.#mutes.push({ from: this.#now(), until: Number.POSITIVE_INFINITY })
    else if (last) last.until = this.#now()
  }

  /** Ends the recording with what was heard until now, and resolves when all of it is written, or given up. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#end()
    this.#stopTicking()
    await this.#writing
    await this.#writeDue()
    await this.#guarded(async () => this.#sink?.close())
    await this.#deps.ended(this.#beganAt(), this.#written)
  }

  #end(): void {
    this.#endsAt ??= Math.max(this.#written, this.#now())
  }

  #now(): number {
    return this.#frameAt(this.#deps.clock.monotonicMs())
  }

  #frameAt(monotonicMs: number): number {
    return Math.floor((monotonicMs - this.#startMs) * FRAMES_PER_MS)
  }

  #beganAt(): Date {
    const { clock } = this.#deps
    this.#startedAt ??= new Date(Math.round(clock.now() - clock.monotonicMs() + this.#startMs))
    return this.#startedAt
  }

  #tick(): void {
    this.#dropIfBehind()
    this.#writing ??= this.#writeDue().finally(() => {
      this.#writing = null
    })
  }

  /** What cannot be kept any longer is silence, as long as it was. */
  #dropIfBehind(): void {
    const until = (this.#endsAt ?? this.#now()) - HOLD_FRAMES
    const isDiskSlow = this.#writing !== null || this.#isInTrouble
    const maxFrames = isDiskSlow ? MAX_BEHIND_FRAMES : MAX_UNWRITTEN_FRAMES
    if (until - this.#written <= maxFrames - HOLD_FRAMES) return
    this.#tellTrouble(new Error('the recording is behind: what could not be kept is silence'))
    this.#mutes.unshift({ from: this.#written, until })
    this.#caller.free(until)
    this.#agent.free(until)
  }

  async #writeDue(): Promise<void> {
    await this.#guarded(async () => {
      for (let count = this.#due(); count > 0; count = this.#due()) {
        this.#sink ??= await this.#deps.open(this.#beganAt())
        this.#fill(count)
        await this.#sink.write(this.#block.subarray(0, count * STORED_FRAME_BYTES))
        this.#letGo(this.#written + count)
      }
    })
  }

  #due(): number {
    const until = this.#endsAt ?? this.#now() - HOLD_FRAMES
    return Math.min(BLOCK_FRAMES, until - this.#written)
  }

  #fill(count: number): void {
    const from = this.#written
    this.#block.fill(SILENCE, 0, count * STORED_FRAME_BYTES)
    this.#caller.copyTo(this.#block, from, count)
    this.#agent.copyTo(this.#block, from, count)
    for (const mute of this.#mutes) {
      const begin = Math.max(0, mute.from - from) * STORED_FRAME_BYTES
      const end = Math.min(count, mute.until - from) * STORED_FRAME_BYTES
      if (begin < end) this.#block.fill(SILENCE, begin, end)
    }
  }

  #letGo(until: number): void {
    this.#written = until
    this.#caller.free(until)
    this.#agent.free(until)
    this.#mutes = this.#mutes.filter((mute) => mute.until > until)
  }

  async #guarded(work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#tellTrouble(error)
    }
  }

  #tellTrouble(error: unknown): void {
    if (!this.#isInTrouble) this.#deps.trouble(error)
    this.#isInTrouble = true
  }
}
