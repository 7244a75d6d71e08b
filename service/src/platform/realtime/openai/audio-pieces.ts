import { decodedBytes } from '../../json-bytes.ts'

/** µ-law at 8 kHz: 500 ms. */
const MAX_PIECE_BYTES = 4_000
const GROUP_BYTES = 3
const GROUP_CHARS = 4
const PIECE_CHARS = Math.floor(MAX_PIECE_BYTES / GROUP_BYTES) * GROUP_CHARS

/**
 * How many characters of a base64 text to take at a time, so that no piece holds more than 500 ms: whole groups, which
 * are base64 of their own without being copied.
 */
export function pieceChars(payload: Buffer): number {
  return decodedBytes(payload) <= MAX_PIECE_BYTES ? payload.length : PIECE_CHARS
}
