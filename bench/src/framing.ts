/** The opcodes of RFC 6455. */
export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** What stands at the start of a frame. `mask` is the masking key as one 32-bit number, first byte highest; a client must send one. */
export type FrameHeader = { opcode: number; payloadBytes: number; mask?: number | undefined }

const FIN = 0x80
const MASKED = 0x80
const LENGTH_16 = 126
const LENGTH_64 = 127

/** Size in bytes of a frame's header: 2 to 14. */
export function headerBytes(payloadBytes: number, masked: boolean): number {
  const lengthBytes = payloadBytes < LENGTH_16 ? 0 : payloadBytes < 65_536 ? 2 : 8
  return 2 + lengthBytes + (masked ? 4 : 0)
}

/** Writes the header of an unfragmented frame at `at` and returns where its payload begins. The payload still has to be masked. */
export function writeHeader(target: Buffer, at: number, header: FrameHeader): number {
  const masked = header.mask === undefined ? 0 : MASKED
  target[at] = FIN | header.opcode
  let next = writeLength(target, at + 1, header.payloadBytes, masked)
  if (header.mask !== undefined) next = target.writeUInt32BE(header.mask, next)
  return next
}

function writeLength(target: Buffer, at: number, payloadBytes: number, masked: number): number {
  if (payloadBytes < LENGTH_16) {
    target[at] = masked | payloadBytes
    return at + 1
  }
  if (payloadBytes < 65_536) {
    target[at] = masked | LENGTH_16
    return target.writeUInt16BE(payloadBytes, at + 1)
  }
  target[at] = masked | LENGTH_64
  return target.writeBigUInt64BE(BigInt(payloadBytes), at + 1)
}

/** Masks, or unmasks, `bytes[start, end)` in place. */
export function applyMask(bytes: Buffer, start: number, end: number, mask: number): void {
  const a = mask >>> 24
  const b = (mask >>> 16) & 255
  const c = (mask >>> 8) & 255
  const d = mask & 255
  let at = start
  // Four bytes a round: this loop runs over every byte that a caller sends.
  for (; at + 4 <= end; at += 4) {
    bytes[at] = (bytes[at] as number) ^ a
    bytes[at + 1] = (bytes[at + 1] as number) ^ b
    bytes[at + 2] = (bytes[at + 2] as number) ^ c
    bytes[at + 3] = (bytes[at + 3] as number) ^ d
  }
  if (at < end) bytes[at] = (bytes[at] as number) ^ a
  if (at + 1 < end) bytes[at + 1] = (bytes[at + 1] as number) ^ b
  if (at + 2 < end) bytes[at + 2] = (bytes[at + 2] as number) ^ c
}

/** One whole frame with a copy of `payload`, masked when `mask` is given. */
export function encodeFrame(opcode: number, payload: Uint8Array, mask?: number): Buffer {
  const frame = Buffer.allocUnsafe(headerBytes(payload.length, mask !== undefined) + payload.length)
  const at = writeHeader(frame, 0, { opcode, payloadBytes: payload.length, mask })
  frame.set(payload, at)
  if (mask !== undefined) applyMask(frame, at, frame.length, mask)
  return frame
}
