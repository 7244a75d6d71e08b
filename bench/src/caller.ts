import type { Socket } from 'node:net'
import { base64Bytes, isSameBehindStamp, type Random } from './audio.ts'
import type { Call } from './call.ts'
import { ACCOUNT_SID, type MediaStream } from './carrier.ts'
import { FrameReader } from './frame-reader.ts'
import { encodeFrame, OPCODE } from './framing.ts'
import { openWebSocket } from './handshake.ts'
import { MediaFrame } from './media-frame.ts'
import { MODEL_AUDIO } from './model-socket.ts'
import { Playout } from './playout.ts'
import type { Scratch } from './scratch.ts'
import { blankStamp, KIND, readStamp } from './stamp.ts'
import { startsWith } from './starts-with.ts'
import { nowUs, type Tally } from './tally.ts'

/** What the callers of a load share. */
export type CallerDeps = { tally: Tally; scratch: Scratch; random: Random }

const MEDIA = Buffer.from('{"event":"media"')
const PAYLOAD_KEY = Buffer.from('"payload":"')
const QUOTE = 0x22
/** A socket with this much waiting is full; what does not fit is counted, not queued without end. */
const BACKLOG_BYTES_MAX = 262_144
const NORMAL_CLOSURE = Buffer.from([0x03, 0xe8])
const CLOSE_TIMEOUT_MS = 2_000

/**
 * The carrier's end of one call: speaks Media Streams, sends a frame at every beat, plays what it gets at real speed
 * and echoes marks as their audio has played, or at once after `clear`.
 */
export class Caller {
  /** Resolves when the socket is closed. */
  readonly closed: Promise<void>
  readonly #call: Call
  readonly #deps: CallerDeps
  readonly #socket: Socket
  readonly #reader: FrameReader
  #hasHeard = false
  #startedUs = 0
  #hasHeardAnything = false
  readonly #sid: Buffer
  readonly #media: MediaFrame
  readonly #playout = new Playout()
  readonly #stamp = blankStamp()
  #sequence = 0
  #hasStopped = false

  private constructor(socket: Socket, call: Call, deps: CallerDeps) {
    this.#socket = socket
    this.#call = call
    this.#deps = deps
    this.#sid = Buffer.from(`"streamSid":"${call.streamSid}"`)
    this.#media = new MediaFrame(call.streamSid)
    this.#reader = new FrameReader({ masked: false, onMessage: this.#onMessage })
    const { promise, resolve } = Promise.withResolvers<void>()
    this.closed = promise
    socket.on('data', (chunk) => this.#push(chunk))
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      if (!this.#hasStopped) deps.tally.callDropped('the stream was closed')
      this.#hasStopped = true
      resolve()
    })
  }

  /** Connects and sends `connected` and `start`. @throws Error when the handshake fails. */
  static async open(stream: MediaStream, call: Call, deps: CallerDeps): Promise<Caller> {
    const { socket, head } = await openWebSocket(stream.url)
    const caller = new Caller(socket, call, deps)
    caller.#start(stream.parameters)
    if (head.length > 0) caller.#push(head)
    return caller
  }

  /** Whether frames go out. */
  get isLive(): boolean {
    return !this.#hasStopped
  }

  /** Sends the next frame and the echoes that are due. */
  beat(nowMs: number): void {
    if (this.#hasStopped) return
    if (this.#socket.writableLength > BACKLOG_BYTES_MAX) this.#deps.tally.faults.unsent += 1
    else this.#sendFrame()
    for (let mark = this.#playout.due(nowMs); mark !== undefined; mark = this.#playout.due(nowMs)) this.#echo(mark)
  }

  /** Says `stop` and closes. A peer that does not close within 2 s is cut off. */
  stop(): void {
    if (this.#hasStopped) return
    const { streamSid, sid: callSid } = this.#call
    this.#send({ event: 'stop', streamSid, stop: { accountSid: ACCOUNT_SID, callSid } })
    this.#hasStopped = true
    this.#socket.write(encodeFrame(OPCODE.close, NORMAL_CLOSURE, this.#deps.random.next()))
    const timer = setTimeout(() => this.#socket.destroy(), CLOSE_TIMEOUT_MS)
    this.#socket.once('close', () => clearTimeout(timer))
  }

  #start(customParameters: Record<string, string>): void {
    const { streamSid, sid: callSid } = this.#call
    const start = {
      accountSid: ACCOUNT_SID,
      streamSid,
      callSid,
      tracks: ['inbound'],
      mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
      customParameters,
    }
    this.#sendText(JSON.stringify({ event: 'connected', protocol: 'Call', version: '1.0.0' }))
    this.#send({ event: 'start', streamSid, start })
    this.#startedUs = nowUs()
  }

  #sendFrame(): void {
    const call = this.#call
    const stamp = this.#stamp
    stamp.call = call.id
    stamp.kind = KIND.callerFrame
    stamp.sequence = call.framesSent
    stamp.sentUs = nowUs()
    call.framesSent += 1
    this.#sequence += 1
    this.#deps.scratch.add(this.#media.fill(this.#sequence, call.framesSent, stamp), this.#deps.random.next())
    this.#deps.scratch.send(this.#socket)
    this.#deps.tally.frameSent(stamp.sentUs)
  }

  #echo(name: string): void {
    this.#send({ event: 'mark', streamSid: this.#call.streamSid, mark: { name } })
  }

  /** Sends a message with the stream's next number, its members in the order in which the carrier has them. */
  #send({ event, ...message }: { event: string; streamSid: string; [member: string]: unknown }): void {
    this.#sequence += 1
    this.#sendText(JSON.stringify({ event, sequenceNumber: String(this.#sequence), ...message }))
  }

  #sendText(text: string): void {
    this.#socket.write(encodeFrame(OPCODE.text, Buffer.from(text), this.#deps.random.next()))
  }

  #push(chunk: Buffer): void {
    try {
      this.#reader.push(chunk)
    } catch {
      this.#deps.tally.faults.refused += 1
      this.#socket.destroy()
    }
  }

  readonly #onMessage = (opcode: number, bytes: Buffer, start: number, end: number): void => {
    if (opcode === OPCODE.text) {
      if (startsWith(bytes, start, MEDIA)) this.#onMedia(bytes, start, end)
      else this.#onControl(JSON.parse(bytes.toString('latin1', start, end)))
      return
    }
    if (opcode === OPCODE.ping) {
      this.#socket.write(encodeFrame(OPCODE.pong, bytes.subarray(start, end), this.#deps.random.next()))
    }
    if (opcode === OPCODE.close) this.#socket.end()
  }

  #onMedia(bytes: Buffer, start: number, end: number): void {
    const key = bytes.indexOf(PAYLOAD_KEY, start)
    const at = key + PAYLOAD_KEY.length
    const audioEnd = bytes.indexOf(QUOTE, at)
    if (key < 0 || audioEnd < 0 || audioEnd >= end || !bytes.subarray(start, end).includes(this.#sid)) {
      this.#deps.tally.faults.refused += 1
      return
    }
    this.#playout.audio(base64Bytes(bytes, at, audioEnd), performance.now())
    if (!this.#hasHeardAnything) this.#deps.tally.firstWordHeard(this.#startedUs, nowUs())
    this.#hasHeardAnything = true
    // Audio without a stamp is the system's own, such as a clip.
    if (readStamp(bytes, at, this.#stamp)) this.#onStamped(bytes, at, audioEnd)
  }

  #onStamped(bytes: Buffer, at: number, audioEnd: number): void {
    const stamp = this.#stamp
    const { tally } = this.#deps
    if (stamp.call !== this.#call.id || stamp.kind === KIND.callerFrame) {
      tally.faults.crossed += 1
      return
    }
    if (!isSameBehindStamp(MODEL_AUDIO, bytes, at, audioEnd)) tally.faults.damaged += 1
    const isNew = this.#call.down.accept(stamp.sequence)
    if (isNew && stamp.kind === KIND.firstDelta) this.#onFirstDelta(stamp.sentUs, nowUs())
    if (!this.#hasHeard) tally.greetingHeard(this.#call.rungUs, nowUs())
    this.#hasHeard = true
  }

  #onFirstDelta(sentUs: number, arrivedUs: number): void {
    const { tally } = this.#deps
    tally.firstDeltaArrived(sentUs, arrivedUs)
    const ownUs = this.#call.turnAnswered(arrivedUs - sentUs)
    if (ownUs !== undefined) tally.turnAnswered(sentUs, ownUs)
  }

  #onControl(message: { event?: string; streamSid?: string; mark?: { name?: string } }): void {
    if (message.streamSid !== this.#call.streamSid) {
      this.#deps.tally.faults.refused += 1
      return
    }
    const nowMs = performance.now()
    if (message.event === 'mark') {
      const name = message.mark?.name ?? ''
      if (this.#playout.mark(name, nowMs)) this.#echo(name)
    } else if (message.event === 'clear') {
      for (const mark of this.#playout.clear(nowMs)) this.#echo(mark)
      this.#noteClear()
    }
  }

  #noteClear(): void {
    if (this.#call.bargeInUs === undefined) return
    this.#deps.tally.clearArrived(this.#call.bargeInUs, nowUs())
    this.#call.bargeInUs = undefined
  }
}
