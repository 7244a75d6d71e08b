import { isUtf8 } from 'node:buffer'
import { partOf } from '../read-room.ts'
import { readClosePayload } from './close-payload.ts'
import { FrameHeader, KIND_BYTES } from './frame-header.ts'
import { GatheredBytes } from './gathered-bytes.ts'
import { applyMask, MASK_BYTES, readMask } from './masking.ts'
import { FINAL, LENGTH_IN_2, LENGTH_IN_8, MASKED, MAX_CONTROL_BYTES, OPCODE } from './opcodes.ts'
import { ProtocolFault } from './protocol-fault.ts'

/** What a peer may send. */
export type ReaderLimits = {
  /** Of a message, however many pieces it comes in. */
  maxMessageBytes: number
  /** Pieces of a message. */
  maxFragments: number
  /** Whether text that is not UTF-8 is a fault. */
  checksText: boolean
}

/** What comes out of the bytes of a peer. Called while they are read. */
export type MessageHandler = {
  /** A whole message. The bytes are only valid now: they may be those of the chunk. */
  message(bytes: Buffer, isBinary: boolean): void
  /** @param payload only valid now. */
  ping(payload: Buffer): void
  pong(): void
  /** The last that is read. @param code 1005 when the peer gave none. */
  close(code: number, reason: string): void
}

/** The first byte of a text message in one frame. */
const WHOLE_TEXT = FINAL | OPCODE.text

/**
 * Reads one direction of a WebSocket (RFC 6455, without extensions) out of the pieces in which a connection brings it.
 *
 * Nearly all that comes is a piece made of whole text frames: these are unmasked where they stand and handed out as views
 * of the piece. Whatever else comes is gathered, in memory of twice its length at most.
 */
export class MessageReader {
  readonly #handler: MessageHandler
  readonly #limits: ReaderLimits
  readonly #isMasked: boolean
  readonly #header = new FrameHeader()
  readonly #payload = new GatheredBytes()
  readonly #message = new GatheredBytes()
  /** The kind of the message of which pieces have come; a continuation stands for none. */
  #opcode: number = OPCODE.continuation
  #fragments = 0
  #isStopped = false

  constructor(expects: 'masked' | 'unmasked', limits: ReaderLimits, handler: MessageHandler) {
    this.#isMasked = expects === 'masked'
    this.#limits = limits
    this.#handler = handler
  }

  /**
   * Reads on. The chunk is the reader's from now on: it is written to.
   *
   * @throws ProtocolFault; nothing is read after it.
   */
  read(chunk: Buffer): void {
    try {
      this.#readAll(chunk)
    } catch (error) {
      this.stop()
      throw error
    }
  }

  /** Reads nothing any more, also of the chunk that is being read. */
  stop(): void {
    this.#isStopped = true
    this.#payload.clear()
    this.#message.clear()
  }

  #readAll(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length && !this.#isStopped) {
      if (this.#header.length === 0 && this.#opcode === OPCODE.continuation) at = this.#readWholeTexts(chunk, at)
      if (at >= chunk.length || this.#isStopped) return
      at = this.#header.isWhole ? this.#readPayload(chunk, at) : this.#readHeader(chunk, at)
    }
  }

  /** Reads the text messages that stand here in one frame each. @returns where the first other thing stands. */
  #readWholeTexts(chunk: Buffer, from: number): number {
    let at = from
    while (chunk[at] === WHOLE_TEXT && !this.#isStopped) {
      const second = chunk[at + 1] ?? 0
      if (second >= MASKED !== this.#isMasked) return at
      const short = second & 0x7f
      if (short === LENGTH_IN_8) return at
      const isShort = short < LENGTH_IN_2
      const maskAt = at + (isShort ? KIND_BYTES : KIND_BYTES + 2)
      const start = this.#isMasked ? maskAt + MASK_BYTES : maskAt
      const payloadBytes = isShort ? short : ((chunk[at + 2] ?? 0) << 8) | (chunk[at + 3] ?? 0)
      const end = start + payloadBytes
      if (end > chunk.length || payloadBytes > this.#limits.maxMessageBytes) return at
      if (this.#isMasked) applyMask(chunk, start, end, readMask(chunk, maskAt))
      this.#deliver(partOf(chunk, start, end), OPCODE.text)
      at = end
    }
    return at
  }

  #readHeader(chunk: Buffer, from: number): number {
    let at = from
    while (at < chunk.length && !this.#header.isWhole) {
      this.#header.add(chunk[at] as number)
      at += 1
      if (this.#header.length === KIND_BYTES) this.#checkKind()
      if (this.#header.length >= KIND_BYTES && this.#header.endsLength) this.#checkLength()
    }
    // A frame without a payload is over here: nothing else would come of it.
    if (this.#header.isWhole && this.#header.payloadBytes === 0) this.#endFrame(chunk.subarray(at, at))
    return at
  }

  #checkKind(): void {
    const { hasReservedBits, opcode, isControl, isFinal, isMasked, shortLength } = this.#header
    if (hasReservedBits) throw new ProtocolFault('WS_ERR_UNEXPECTED_RSV')
    if (!this.#mayCome(opcode)) throw new ProtocolFault('WS_ERR_INVALID_OPCODE')
    if (isControl && !isFinal) throw new ProtocolFault('WS_ERR_EXPECTED_FIN')
    const isHalfACode = opcode === OPCODE.close && shortLength === 1
    if (isHalfACode || (isControl && shortLength > MAX_CONTROL_BYTES))
      throw new ProtocolFault('WS_ERR_INVALID_CONTROL_PAYLOAD_LENGTH')
    if (isMasked === this.#isMasked) return
    throw new ProtocolFault(isMasked ? 'WS_ERR_UNEXPECTED_MASK' : 'WS_ERR_EXPECTED_MASK')
  }

  #mayCome(opcode: number): boolean {
    const isInMessage = this.#opcode !== OPCODE.continuation
    if (opcode === OPCODE.continuation) return isInMessage
    if (opcode === OPCODE.text || opcode === OPCODE.binary) return !isInMessage
    return opcode >= OPCODE.close && opcode <= OPCODE.pong
  }

  /** Judged before the payload has come, so that nobody has to hold it. */
  #checkLength(): void {
    const { payloadBytes, isControl } = this.#header
    if (Number.isNaN(payloadBytes)) throw new ProtocolFault('WS_ERR_INVALID_PAYLOAD_LENGTH')
    if (isControl || this.#message.length + payloadBytes <= this.#limits.maxMessageBytes) return
    throw new ProtocolFault('WS_ERR_UNSUPPORTED_MESSAGE_LENGTH')
  }

  #readPayload(chunk: Buffer, at: number): number {
    const { payloadBytes } = this.#header
    const end = Math.min(chunk.length, at + payloadBytes - this.#payload.length)
    const piece = chunk.subarray(at, end)
    if (piece.length === payloadBytes) this.#endFrame(piece)
    else {
      this.#payload.add(piece, payloadBytes)
      if (this.#payload.length === payloadBytes) this.#endFrame(this.#payload.take())
    }
    return end
  }

  #endFrame(payload: Buffer): void {
    const { opcode, isFinal, isControl, isMasked } = this.#header
    if (isMasked) applyMask(payload, 0, payload.length, this.#header.mask)
    this.#header.clear()
    if (isControl) this.#control(opcode, payload)
    else this.#data(opcode, payload, isFinal)
  }

  #control(opcode: number, payload: Buffer): void {
    if (opcode === OPCODE.ping) return this.#handler.ping(payload)
    if (opcode === OPCODE.pong) return this.#handler.pong()
    const { code, reason } = readClosePayload(payload, this.#limits.checksText)
    this.stop()
    this.#handler.close(code, reason)
  }

  #data(opcode: number, payload: Buffer, isFinal: boolean): void {
    this.#fragments += 1
    if (this.#fragments > this.#limits.maxFragments) throw new ProtocolFault('WS_ERR_TOO_MANY_BUFFERED_PARTS')
    if (isFinal && opcode !== OPCODE.continuation) return this.#endMessage(payload, opcode)
    if (opcode !== OPCODE.continuation) this.#opcode = opcode
    this.#message.add(payload, this.#limits.maxMessageBytes)
    if (isFinal) this.#endMessage(this.#message.take(), this.#opcode)
  }

  #endMessage(bytes: Buffer, opcode: number): void {
    this.#opcode = OPCODE.continuation
    this.#fragments = 0
    this.#deliver(bytes, opcode)
  }

  #deliver(bytes: Buffer, opcode: number): void {
    const isBinary = opcode === OPCODE.binary
    if (this.#limits.checksText && !isBinary && !isUtf8(bytes)) throw new ProtocolFault('WS_ERR_INVALID_UTF8')
    this.#handler.message(bytes, isBinary)
  }
}
