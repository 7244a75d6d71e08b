import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { FrameSocket, FrameSocketListener } from '../platform/http/frame-socket.ts'
import type { Log } from '../platform/log.ts'
import type { StreamCodec, StreamMessage } from '../platform/telephony/port.ts'
import type { StreamLeg } from './call-streams.ts'
import type { StreamWatch, WatchedStream } from './media-stream-watch.ts'
import type { Seat } from './pre-start.ts'

export type StreamStart = Extract<StreamMessage, { type: 'start' }>

/** When the carrier's `start` came, by both clocks: what is said in the call is counted from it, and the caller waits from it. */
export type StartedAt = { date: Date; monotonicMs: number }

/** Why a stream is not let in, as the peer is told: a close code of RFC 6455, or 4401 for one that may not. */
export class StreamRefusal extends Error {
  override readonly name = 'StreamRefusal'
  readonly closeCode: number

  /** @param reason of at most 123 bytes, with nothing secret in it. */
  constructor(closeCode: number, reason: string) {
    super(reason)
    this.closeCode = closeCode
  }
}

/** What a stream needs of those around it. */
export type MediaStreamDeps = {
  clock: Clock
  log: Log
  codec: StreamCodec
  watch: StreamWatch
  /** The place of a socket that has shown no token yet; null for one that was let in at its handshake. */
  seat: Seat | null
  /** It is over, and has never said whose call it is. Not given where nothing follows from that. */
  unbegun?: (() => void) | undefined
  /**
   * Finds out whose call this is and begins its session. @throws StreamRefusal, or AppError `unavailable` while the database
   * does not answer.
   */
  join(start: StreamStart, entry: StreamEntry): Promise<StreamLeg>
}

/**
 * `letIn` is to be called as soon as the peer has shown that it may be here; after `signal` was aborted no session may begin
 * any more.
 */
export type StreamEntry = { letIn: () => void; signal: AbortSignal; startedAt: StartedAt }

export const UNAUTHENTICATED = 4401
const POLICY = 1008
const UNSUPPORTED = 1003
const FAILED = 1011
const TRY_AGAIN = 1013
/** Ends that are for want of ours. */
const OURS = new Set([FAILED, TRY_AGAIN])

/** How long a socket may be silent about whose it is; one that showed a token at its handshake may take longer to start. */
const TOKEN_WITHIN_MS = 5_000
const START_WITHIN_MS = 10_000
/** How long it may take to begin: by then the carrier shall know that it has to go on without us. */
const BEGIN_WITHIN_MS = 5_000
/** What may come before the start. */
const MAX_EARLY_FRAMES = 20
const MAX_EARLY_BYTES = 64 * 1024

/**
 * opening: the start has not come · joining: it is being found out whose call this is, and what comes meanwhile waits · live:
 * frames go to the session · over: nothing that comes matters any more.
 */
type Phase = 'opening' | 'joining' | 'live' | 'over'

/** One media stream: what its socket says, until its session hears it, and the bounds that it has to keep. */
export class MediaStream implements FrameSocketListener, WatchedStream {
  readonly #deps: MediaStreamDeps
  readonly #socket: FrameSocket
  readonly #cancelWait: () => void
  readonly #joining = new AbortController()
  #cancelBegin = () => {}
  readonly #early = { frames: 0, bytes: 0 }
  /** What was read of a socket before it could be paused: a piece of the connection, 64 KiB at most. */
  #held: Buffer[] = []
  #phase: Phase = 'opening'
  #session: StreamLeg | null = null
  messages = 0

  constructor(socket: FrameSocket, deps: MediaStreamDeps) {
    this.#socket = socket
    this.#deps = deps
    const [waitMs, code] = deps.seat ? [TOKEN_WITHIN_MS, UNAUTHENTICATED] : [START_WITHIN_MS, POLICY]
    this.#cancelWait = deps.clock.after(waitMs, () => this.#refuse(code, 'the start did not come in time'))
    deps.seat?.onDropped(() => this.#refuse(TRY_AGAIN, 'others need the place'))
    deps.watch.add(this)
  }

  frame(frame: Buffer, isBinary: boolean): void {
    this.messages += 1
    if (isBinary) return this.#refuse(UNSUPPORTED, 'frames are text')
    if (this.#phase === 'live') return this.#take(frame)
    if (this.#phase === 'joining') this.#held.push(Buffer.from(frame))
    else if (this.#phase === 'opening') this.#beforeStart(frame)
  }

  closed(): void {
    if (this.#phase === 'joining') this.#deps.seat?.leave()
    this.#end()
    this.#tell({ type: 'stream_lost' })
  }

  bufferedBytes(): number {
    return this.#socket.bufferedBytes()
  }

  /** The peer sends more than any call has to say. */
  tooFast(): void {
    this.#refuse(POLICY, 'too many messages')
  }

  /** The peer does not take what is sent to it: nothing would reach it, a goodbye neither. */
  tooSlow(): void {
    this.#socket.terminate()
  }

  #beforeStart(frame: Buffer): void {
    const message = this.#deps.codec.read(frame)
    if (message.type === 'start') return this.#start(message)
    if (message.type === 'malformed') return this.#refuse(message.closeCode, message.reason)
    if (message.type === 'stop') return this.#refuse(POLICY, 'the stream stopped before it started')
    this.#early.frames += 1
    this.#early.bytes += frame.length
    const { frames, bytes } = this.#early
    if (frames > MAX_EARLY_FRAMES || bytes > MAX_EARLY_BYTES) this.#refuse(POLICY, 'too much before the start')
  }

  #start(start: StreamStart): void {
    this.#phase = 'joining'
    this.#cancelWait()
    this.#socket.pause()
    const { clock } = this.#deps
    const startedAt = { date: new Date(clock.now()), monotonicMs: clock.monotonicMs() }
    this.#cancelBegin = clock.after(BEGIN_WITHIN_MS, () => {
      this.#socket.resume()
      this.#refuse(TRY_AGAIN, 'the call could not begin in time')
    })
    const letIn = () => {
      this.#deps.seat?.letIn()
      this.#socket.exempt()
    }
    this.#deps.join(start, { letIn, signal: this.#joining.signal, startedAt }).then(
      (session) => this.#joined(session),
      (error: unknown) => this.#notJoined(error),
    )
  }

  #joined(session: StreamLeg): void {
    // The peer went away meanwhile, but the session has begun.
    if (this.#phase !== 'joining') return session.dispatch({ type: 'stream_lost' })
    this.#cancelBegin()
    this.#session = session
    this.#phase = 'live'
    for (const frame of this.#held) this.#takeIfLive(frame)
    this.#held = []
    this.#socket.resume()
  }

  #notJoined(error: unknown): void {
    this.#socket.resume()
    if (error instanceof StreamRefusal) return this.#refuse(error.closeCode, error.message)
    if (error instanceof AppError && error.code === 'unavailable') return this.#refuse(TRY_AGAIN, 'try again')
    if (error instanceof AppError && error.status < 500) return this.#refuse(POLICY, 'the call cannot be joined')
    this.#deps.log.error({ err: error }, 'a media stream could not begin')
    this.#refuse(FAILED, 'internal error')
  }

  #takeIfLive(frame: Buffer): void {
    if (this.#phase === 'live') this.#take(frame)
  }

  /** 50 of these a second and call: audio is recognised by its bytes, and only the rest is parsed. */
  #take(frame: Buffer): void {
    const payload = this.#deps.codec.mediaPayload(frame)
    if (payload) this.#session?.fromCaller(payload)
    else this.#takeMessage(this.#deps.codec.read(frame))
  }

  #takeMessage(message: StreamMessage): void {
    switch (message.type) {
      case 'media':
        return this.#session?.fromCaller(message.payload)
      case 'mark':
        return this.#session?.dispatch({ type: 'mark', name: message.name })
      case 'dtmf':
        return this.#session?.dispatch({ type: 'dtmf', digit: message.digit })
      case 'stop':
        this.#end()
        return this.#tell({ type: 'stream_stopped' })
      case 'start':
        return this.#refuse(POLICY, 'a stream starts once')
      case 'malformed':
        return this.#refuse(message.closeCode, message.reason)
      default:
        return
    }
  }

  #refuse(code: number, reason: string): void {
    if (this.#phase === 'over') return
    if (this.#phase === 'joining' && OURS.has(code)) this.#deps.seat?.leave()
    this.#end()
    this.#socket.close(code, reason)
    this.#tell({ type: 'stream_lost' })
  }

  /** The session is told once that its stream is over; it hears nothing after that. */
  #tell(end: { type: 'stream_stopped' | 'stream_lost' }): void {
    const session = this.#session
    this.#session = null
    session?.dispatch(end)
  }

  #end(): void {
    if (this.#phase === 'opening') this.#deps.unbegun?.()
    this.#phase = 'over'
    this.#held = []
    this.#cancelWait()
    this.#cancelBegin()
    this.#joining.abort()
    this.#deps.seat?.release()
    this.#deps.watch.remove(this)
  }
}
