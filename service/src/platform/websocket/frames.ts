import { closePayload } from './close-payload.ts'
import { applyMask, MASK_BYTES, type MaskSource, writeMask } from './masking.ts'
import { FINAL, LENGTH_IN_2, LENGTH_IN_8, MASKED, OPCODE } from './opcodes.ts'

/** The bytes of one message, in pieces: they are put together where the frame is made, and not before. */
export type Parts = readonly Buffer[]

const MAX_LENGTH_IN_2 = 0xffff

/** A text message as one frame. */
export function textFrame(parts: Parts, masks: MaskSource): Buffer {
  const frame = Buffer.allocUnsafe(frameBytes(parts, masks))
  writeFrame(frame, 0, parts, masks)
  return frame
}

/** How long the frame of a text message is. */
export function frameBytes(parts: Parts, masks: MaskSource): number {
  const payloadBytes = bytesOf(parts)
  return headerBytes(payloadBytes, masks) + payloadBytes
}

/** How long those of several are together. */
export function framesBytes(messages: readonly Parts[], masks: MaskSource): number {
  let bytes = 0
  for (const parts of messages) bytes += frameBytes(parts, masks)
  return bytes
}

/** Puts several text messages into memory as long as that, a frame for each. */
export function writeFrames(frames: Buffer, messages: readonly Parts[], masks: MaskSource): void {
  let at = 0
  for (const parts of messages) at = writeFrame(frames, at, parts, masks)
}

/** A control frame. @param payload of at most 125 bytes. */
export function controlFrame(opcode: number, payload: Buffer, masks: MaskSource): Buffer {
  const frame = textFrame([payload], masks)
  frame[0] = FINAL | opcode
  return frame
}

/** A close frame. The reason is cut to 123 bytes, never inside a character; 1005 stands for no code and no reason. */
export function closeFrame(code: number, reason: string, masks: MaskSource): Buffer {
  return controlFrame(OPCODE.close, closePayload(code, reason), masks)
}

function bytesOf(parts: Parts): number {
  let bytes = 0
  for (const part of parts) bytes += part.length
  return bytes
}

function headerBytes(payloadBytes: number, masks: MaskSource): number {
  const lengthBytes = payloadBytes < LENGTH_IN_2 ? 0 : payloadBytes <= MAX_LENGTH_IN_2 ? 2 : 8
  return 2 + lengthBytes + (masks ? MASK_BYTES : 0)
}

/** Puts a text message into memory as one frame. @returns where the frame ends. */
export function writeFrame(frames: Buffer, start: number, parts: Parts, masks: MaskSource): number {
  const payloadBytes = bytesOf(parts)
  frames[start] = FINAL | OPCODE.text
  const maskAt = writeLength(frames, start + 1, payloadBytes, masks ? MASKED : 0)
  const payloadAt = masks ? maskAt + MASK_BYTES : maskAt
  let at = payloadAt
  for (const part of parts) {
    frames.set(part, at)
    at += part.length
  }
  if (masks) {
    const mask = masks()
    writeMask(frames, maskAt, mask)
    applyMask(frames, payloadAt, at, mask)
  }
  return at
}

/** @returns where the length ends. */
function writeLength(frames: Buffer, at: number, payloadBytes: number, maskBit: number): number {
  if (payloadBytes < LENGTH_IN_2) {
    frames[at] = maskBit | payloadBytes
    return at + 1
  }
  if (payloadBytes <= MAX_LENGTH_IN_2) {
    frames[at] = maskBit | LENGTH_IN_2
    frames[at + 1] = payloadBytes >>> 8
    frames[at + 2] = payloadBytes
    return at + 3
  }
  frames[at] = maskBit | LENGTH_IN_8
  frames.writeUInt32BE(Math.floor(payloadBytes / 2 ** 32), at + 1)
  return frames.writeUInt32BE(payloadBytes >>> 0, at + 5)
}
