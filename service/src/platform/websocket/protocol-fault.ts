/** What may be wrong with what a peer sends, and the code with which its connection ends (RFC 6455, 7.4.1). */
const CLOSE_CODES = {
  /** A bit is set that only an extension may set. */
  WS_ERR_UNEXPECTED_RSV: 1002,
  /** No such kind of frame, or none that may come here: a continuation of nothing, a message inside another. */
  WS_ERR_INVALID_OPCODE: 1002,
  WS_ERR_EXPECTED_MASK: 1002,
  WS_ERR_UNEXPECTED_MASK: 1002,
  /** A control frame in pieces. */
  WS_ERR_EXPECTED_FIN: 1002,
  /** A control frame of over 125 bytes, or a close frame of one. */
  WS_ERR_INVALID_CONTROL_PAYLOAD_LENGTH: 1002,
  WS_ERR_INVALID_CLOSE_CODE: 1002,
  /** A length whose first bit is set. */
  WS_ERR_INVALID_PAYLOAD_LENGTH: 1002,
  WS_ERR_INVALID_UTF8: 1007,
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 1008,
  WS_ERR_TOO_MANY_CONTROL_FRAMES: 1008,
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 1009,
} as const

/** A peer's break of the protocol. Its connection is of no use after it. */
export class ProtocolFault extends Error {
  override readonly name = 'ProtocolFault'
  readonly code: keyof typeof CLOSE_CODES
  /** What the peer is told. */
  readonly closeCode: number

  constructor(code: keyof typeof CLOSE_CODES) {
    super(`the peer broke the WebSocket protocol (${code})`)
    this.code = code
    this.closeCode = CLOSE_CODES[code]
  }
}
