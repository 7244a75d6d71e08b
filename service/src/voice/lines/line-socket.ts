import type { Cancel, Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { FrameSocket, FrameSocketListener } from '../../platform/http/frame-socket.ts'
import { whenSentAway } from '../../platform/http/still-let-in.ts'
import type { Log } from '../../platform/log.ts'
import type { StreamCodec } from '../../platform/telephony/port.ts'
import { UNAUTHENTICATED } from '../media-stream.ts'
import type { StreamWatch, WatchedStream } from '../media-stream-watch.ts'
import type { AudioBatch, Line, LineEnd, OpenLine } from './line.ts'
import { LineFrames } from './line-frames.ts'
import type { LineGrant } from './line-token.ts'

/** Writes down that a person has taken a call over, or is gone from it. Never rejects. */
export type NoteTakeover = (done: {
  action: 'takeover' | 'release'
  grant: LineGrant
  callSid: string
  reason: string | null
  /** What is noted again under it changes nothing; one of its own where it is left out. */
  id?: string | undefined
}) => Promise<void>

export type LineSocketDeps = {
  clock: Clock
  log: Pick<Log, 'error'>
  codec: StreamCodec
  watch: StreamWatch
  open: OpenLine
  note: NoteTakeover
  /** Whether who was let in would be let in still; rejects when that is not known now. */
  mayStay(grant: LineGrant): Promise<boolean>
}

/** What is asked of a person's socket. */
type PersonSocket = Pick<FrameSocket, 'send' | 'sendAll' | 'bufferedBytes' | 'exempt' | 'close' | 'terminate'>

const NORMAL = 1000
const GOING_AWAY = 1001
const NO_CODE = 1005
const UNSUPPORTED = 1003
const POLICY = 1008
const FAILED = 1011
const TRY_AGAIN = 1013
/** Somebody else has the call, or nobody can have it now. */
const TAKEN = 4409
/** Why a person has a call no more, where that is not their doing. */
const GONE = { ended: 'the call is over', broken: 'the call moved, or could not be reached' }
/** How long a person may take to start. */
const START_WITHIN_MS = 10_000
/** Two seconds of both sides: whoever is further behind does not hear the call as it is, and is let go. */
const MAX_BEHIND_BYTES = 64 * 1024

/**
 * The socket of a person on a line into a call. Who listens is sent `start`, `media` of two tracks and `stop`, and is not listened
 * to. Who takes the call over begins with `start` as a page's call does, sends what they say, is sent what the caller says, and gives
 * the call back with `stop` or a goodbye of the socket; a connection that is lost is told as that.
 */
export class LineSocket implements FrameSocketListener, WatchedStream {
  readonly #deps: LineSocketDeps
  readonly #socket: PersonSocket
  readonly #grant: LineGrant
  readonly #cancelWait: Cancel
  readonly #stopAsking: Cancel
  #line: Line | null = null
  #frames: LineFrames | null = null
  #phase: 'waiting' | 'opening' | 'open' | 'over' = 'waiting'
  messages = 0

  constructor(socket: PersonSocket, grant: LineGrant, deps: LineSocketDeps) {
    this.#socket = socket
    this.#grant = grant
    this.#deps = deps
    deps.watch.add(this)
    socket.exempt()
    const late = () => this.#refuse(POLICY, 'the start did not come in time')
    this.#cancelWait = deps.clock.after(START_WITHIN_MS, late)
    const sentAway = () => this.#refuse(UNAUTHENTICATED, 'the credential is not good any more')
    this.#stopAsking = whenSentAway(deps.clock, () => deps.mayStay(grant), sentAway)
    if (grant.kind === 'listen') void this.#open()
  }

  frame(frame: Buffer, isBinary: boolean): void {
    this.messages += 1
    if (this.#phase === 'over') return
    if (isBinary) return this.#refuse(UNSUPPORTED, 'frames are text')
    if (this.#grant.kind === 'listen') return
    const payload = this.#deps.codec.mediaPayload(frame)
    if (payload) this.#line?.speak(payload)
    else this.#take(frame)
  }

  #take(frame: Buffer): void {
    const message = this.#deps.codec.read(frame)
    switch (message.type) {
      case 'start':
        if (this.#phase === 'waiting') void this.#open()
        return
      case 'media':
        return this.#line?.speak(message.payload)
      case 'stop':
        return this.#left('released', 'the person stopped')
      case 'malformed':
        return this.#refuse(message.closeCode, message.reason)
      default:
        return
    }
  }

  closed(code: number): void {
    const isGoodbye = code === NORMAL || code === GOING_AWAY || code === NO_CODE
    this.#end(isGoodbye ? 'released' : 'lost', isGoodbye ? 'the person left' : 'the connection was lost')
  }

  bufferedBytes(): number {
    return this.#socket.bufferedBytes()
  }

  tooFast(): void {
    this.#refuse(POLICY, 'too many messages')
  }

  tooSlow(): void {
    this.#socket.terminate()
  }

  async #open(): Promise<void> {
    this.#phase = 'opening'
    const { tenant, stream_sid: streamSid, kind, supervisor } = this.#grant
    try {
      const line = await this.#deps.open(
        { tenantId: tenant, streamSid, kind, supervisor },
        { audio: (batch) => this.#send(batch), over: (why) => this.#over(why) },
      )
      this.#opened(line)
    } catch (error) {
      this.#notOpened(error)
    }
  }

  #opened(line: Line): void {
    // The person went away meanwhile, or the call did.
    if (this.#phase !== 'opening') return line.close('lost')
    this.#cancelWait()
    this.#phase = 'open'
    this.#line = line
    const { kind, stream_sid: streamSid } = this.#grant
    this.#frames = new LineFrames({ streamSid, callSid: line.callSid })
    if (kind === 'listen') this.#socket.sendAll(this.#frames.start())
    else this.#note({ action: 'takeover', reason: null, callSid: line.callSid })
  }

  #notOpened(error: unknown): void {
    if (!(error instanceof AppError)) this.#deps.log.error({ err: error }, 'a line into a call could not be opened')
    const code = error instanceof AppError ? error.code : 'internal'
    if (code === 'conflict') return this.#refuse(TAKEN, 'the call cannot be taken over now')
    if (code === 'not_found') return this.#refuse(POLICY, 'there is no such call')
    this.#refuse(code === 'unavailable' ? TRY_AGAIN : FAILED, code === 'unavailable' ? 'try again' : 'internal error')
  }

  /** Nobody is waited for: whoever does not keep up is let go, and the call never knows. */
  #send(batch: AudioBatch): void {
    if (this.#phase !== 'open' || !this.#frames) return
    if (this.#socket.bufferedBytes() > MAX_BEHIND_BYTES) return this.#refuse(TRY_AGAIN, 'too slow')
    if (this.#grant.kind === 'listen') return this.#socket.sendAll(this.#frames.media(batch))
    const { head, tail } = this.#deps.codec.mediaFrame(this.#grant.stream_sid)
    this.#socket.send([head, Buffer.from(batch.inbound, 'latin1'), tail])
  }

  #over(why: LineEnd): void {
    if (this.#phase === 'over') return
    const line = this.#line
    this.#line = null
    if (this.#frames && why !== 'broken') this.#socket.send(this.#frames.stop())
    this.#end('released', null)
    // Who has it given back is noted for that.
    if (line && why !== 'released') this.#noteRelease(GONE[why], line)
    if (why === 'broken') this.#socket.close(TRY_AGAIN, 'the call moves, or cannot be reached: ask for another line')
    else this.#socket.close(NORMAL, why === 'released' ? 'the agent has the call again' : 'the call is over')
  }

  #left(how: 'released' | 'lost', reason: string): void {
    this.#end(how, reason)
    this.#socket.close(NORMAL, 'the agent has the call again')
  }

  #refuse(code: number, reason: string): void {
    if (this.#phase === 'over') return
    this.#end('lost', reason)
    this.#socket.close(code, reason)
  }

  #end(how: 'released' | 'lost', reason: string | null): void {
    if (this.#phase === 'over') return
    this.#phase = 'over'
    this.#cancelWait()
    this.#stopAsking()
    this.#deps.watch.remove(this)
    const line = this.#line
    this.#line = null
    if (!line) return
    this.#noteRelease(reason, line)
    line.close(how)
  }

  #noteRelease(reason: string | null, { callSid, lineId }: Line): void {
    if (this.#grant.kind === 'takeover') this.#note({ action: 'release', reason, callSid, id: lineId })
  }

  #note(done: Omit<Parameters<NoteTakeover>[0], 'grant'>): void {
    void this.#deps.note({ ...done, grant: this.#grant })
  }
}
