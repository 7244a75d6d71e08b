import type { Cancel, Clock } from '../../kernel/clock.ts'
import type { StreamCodec } from '../../platform/telephony/port.ts'
import type { Parts } from '../../platform/websocket/frames.ts'
import type { StreamLeg } from '../../voice/call-streams.ts'
import type { StreamedCall } from '../../voice/streamed-call.ts'

/** G.711 µ-law of 8 kHz: so many bytes are a frame of 20 ms. */
const FRAME_BYTES = 160
const FRAME_MS = 20
const BYTES_PER_MS = FRAME_BYTES / FRAME_MS
const SILENT_FRAME = base64Of(Buffer.alloc(FRAME_BYTES, 0xff))
/** A process that was busy does not say a second at once. */
const MAX_FRAMES_AT_ONCE = 10

/** What a stream that leaves no process looks like: a letter, and what it is about. */
const AUDIO = 'a'
const MARK = 'm'
const CLEAR = 'c'
const codec: StreamCodec = {
  read: () => ({ type: 'unknown' }),
  mediaPayload: () => null,
  mediaFrame: () => ({ head: Buffer.from(AUDIO), tail: Buffer.alloc(0) }),
  mark: (_streamSid, name) => Buffer.from(MARK + name),
  clear: () => Buffer.from(CLEAR),
}

/** What is still to be heard: so much audio, or a mark that is told once all before it was. */
type Queued = { bytes: number } | { mark: string }

/**
 * A caller's end of a call, in the place of a carrier: it takes what a session sends, plays it as fast as anybody hears, tells of its
 * marks, and sends a frame of the caller each 20 ms, silence or words.
 */
export class Telephone {
  readonly codec = codec
  readonly carrier: StreamedCall['carrier']
  readonly #clock: Clock
  #leg: StreamLeg | null = null
  #cancel: Cancel = () => {}
  #queue: Queued[] = []
  /** Frames of the caller's, in base64, that were not sent yet. */
  #words: Buffer[] = []
  #nextFrameMs = 0
  #heardBytes = 0
  #quietSinceMs: number
  #isClosed = false

  constructor(clock: Clock) {
    this.#clock = clock
    this.#quietSinceMs = clock.monotonicMs()
    this.carrier = {
      send: (parts) => this.#take(parts),
      sendAll: (messages) => {
        for (const parts of messages) this.#take(parts)
      },
      // Memory takes all at once.
      bufferedBytes: () => 0,
      close: () => this.close(),
    }
  }

  /** How much of the agent was heard so far. */
  get heardMs(): number {
    return this.#heardBytes / BYTES_PER_MS
  }

  /** For how long nothing of the agent has been heard. */
  get quietMs(): number {
    return this.#queue.some((each) => 'bytes' in each) ? 0 : this.#clock.monotonicMs() - this.#quietSinceMs
  }

  get isSpeaking(): boolean {
    return this.#words.length > 0
  }

  /** The session hears it from now on. */
  begin(leg: StreamLeg): void {
    if (this.#isClosed) return
    this.#leg = leg
    this.#nextFrameMs = this.#clock.monotonicMs() + FRAME_MS
    this.#cancel = this.#clock.every(FRAME_MS, () => this.#tick())
  }

  /** Says this, behind what it is saying: µ-law of 8 kHz. */
  say(audio: Buffer): void {
    for (let at = 0; at < audio.length; at += FRAME_BYTES) {
      const frame = Buffer.alloc(FRAME_BYTES, 0xff)
      audio.copy(frame, 0, at, at + FRAME_BYTES)
      this.#words.push(base64Of(frame))
    }
  }

  press(keys: string): void {
    for (const digit of keys) this.#leg?.dispatch({ type: 'dtmf', digit })
  }

  hangUp(): void {
    this.#leg?.dispatch({ type: 'hung_up' })
  }

  /** The line is dead. Again, it changes nothing. */
  close(): void {
    this.#isClosed = true
    this.#cancel()
    this.#leg = null
    this.#queue = []
    this.#words = []
  }

  #take(parts: Parts): void {
    const kind = String.fromCharCode(parts[0]?.[0] ?? 0)
    if (kind === AUDIO) {
      const last = this.#queue.at(-1)
      const bytes = decodedBytes(parts[1])
      if (last && 'bytes' in last) last.bytes += bytes
      else this.#queue.push({ bytes })
    } else if (kind === MARK) this.#queue.push({ mark: Buffer.concat(parts).toString('utf8', 1) })
    else if (kind === CLEAR) this.#clear()
  }

  /** As carriers do: what was not played is forgotten, and its marks are told. */
  #clear(): void {
    const marks = this.#queue.flatMap((each) => ('mark' in each ? [each.mark] : []))
    this.#queue = []
    this.#quietSinceMs = this.#clock.monotonicMs()
    for (const name of marks) this.#leg?.dispatch({ type: 'mark', name })
  }

  #tick(): void {
    const nowMs = this.#clock.monotonicMs()
    this.#nextFrameMs = Math.max(this.#nextFrameMs, nowMs - MAX_FRAMES_AT_ONCE * FRAME_MS)
    while (this.#leg && this.#nextFrameMs <= nowMs) {
      this.#nextFrameMs += FRAME_MS
      this.#hear(FRAME_BYTES)
      this.#leg?.fromCaller(this.#words.shift() ?? SILENT_FRAME)
    }
  }

  #hear(frameBytes: number): void {
    let left = frameBytes
    for (let next = this.#queue[0]; next; next = this.#queue[0]) {
      if ('mark' in next) {
        this.#queue.shift()
        this.#leg?.dispatch({ type: 'mark', name: next.mark })
        continue
      }
      if (left === 0) return
      const heard = Math.min(left, next.bytes)
      left -= heard
      next.bytes -= heard
      this.#heardBytes += heard
      this.#quietSinceMs = this.#clock.monotonicMs()
      if (next.bytes === 0) this.#queue.shift()
    }
  }
}

function base64Of(audio: Buffer): Buffer {
  return Buffer.from(audio.toString('base64'))
}

/** How many bytes base64 stands for. */
function decodedBytes(base64: Buffer | undefined): number {
  if (!base64 || base64.length === 0) return 0
  const padding = base64.at(-2) === 0x3d ? 2 : base64.at(-1) === 0x3d ? 1 : 0
  return (base64.length / 4) * 3 - padding
}
