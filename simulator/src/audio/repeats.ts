import { levelDbfs, type Span, VOICED_DBFS } from './levels.ts'
import { BYTES_PER_MS, FRAME_MS } from './mulaw.ts'

/** So long a piece is never twice the same in speech: it was sent twice. */
const PIECE_MS = 60
/** A piece that comes again this long after itself, or later, was said again. */
const REACH_MS = 500

/**
 * Where µ-law audio repeats, byte for byte, what was heard less than 500 ms before, in milliseconds from its start. Silence is
 * the same all the time, and so is a tone, which comes again within the length of a piece: both are nothing.
 */
export function repeatedSpans(mulaw: Uint8Array): Span[] {
  const audio = Buffer.from(mulaw.buffer, mulaw.byteOffset, mulaw.byteLength)
  const spans: Span[] = []
  for (let startMs = PIECE_MS; (startMs + PIECE_MS) * BYTES_PER_MS <= audio.length; startMs += FRAME_MS) {
    if (!repeats(audio, startMs)) continue
    const endMs = startMs + PIECE_MS
    const last = spans.at(-1)
    if (last && startMs <= last.endMs) last.endMs = endMs
    else spans.push({ startMs, endMs })
  }
  return spans
}

function repeats(audio: Buffer, startMs: number): boolean {
  const start = startMs * BYTES_PER_MS
  const bytes = PIECE_MS * BYTES_PER_MS
  const piece = audio.subarray(start, start + bytes)
  if (levelDbfs(piece) <= VOICED_DBFS) return false
  const from = Math.max(0, start - REACH_MS * BYTES_PER_MS)
  // The nearest one: of a tone it overlaps the piece.
  const before = audio.subarray(from, start + bytes - 1).lastIndexOf(piece)
  return before !== -1 && from + before <= start - bytes
}
