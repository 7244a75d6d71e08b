import type { RecordingFiles } from './recording-files.ts'
import {
  expanded,
  FRAMES_PER_MS,
  SERVED_FRAME_BYTES,
  SERVED_HEADER_BYTES,
  SILENCE,
  STORED_FRAME_BYTES,
  STORED_HEADER_BYTES,
  servedHeader,
} from './recording-wav.ts'

/** A part and what there is of it now. */
export type StoredPart = { path: string; startedAt: Date; frames: number }

/** A recording as one piece of audio: its parts where they belong in time, and silence between them. */
export type RecordedAudio = {
  /** Of the whole WAV file. */
  sizeBytes: number
  durationMs: number
  /** The bytes of that file from `from` up to but not including `until`, read while they are asked for. */
  read(from: number, until: number): AsyncIterable<Buffer>
}

/** A stretch of the recording; `path` is null for silence. */
type Piece = { path: string | null; frames: number }

/** What is read at a time. */
const BLOCK_FRAMES = 16_384

/** When a recording begins: with its session, though what was recorded of that first is not kept. */
export function beginsAtMs(sessionStartedAt: Date | null, firstPart: Date): number {
  return Math.min(sessionStartedAt?.getTime() ?? Number.POSITIVE_INFINITY, firstPart.getTime())
}

/** Joins parts that are in the order of their beginnings. What two of them claim both is the earlier one's. */
export function joined(
  files: Pick<RecordingFiles, 'open'>,
  parts: readonly StoredPart[],
  sessionStartedAt: Date | null,
): RecordedAudio {
  const pieces = piecesOf(parts, sessionStartedAt)
  const frames = pieces.reduce((sum, piece) => sum + piece.frames, 0)
  return {
    sizeBytes: SERVED_HEADER_BYTES + frames * SERVED_FRAME_BYTES,
    durationMs: Math.round(frames / FRAMES_PER_MS),
    async *read(from, until) {
      if (from < SERVED_HEADER_BYTES) yield servedHeader(frames).subarray(from, Math.min(until, SERVED_HEADER_BYTES))
      let at = SERVED_HEADER_BYTES
      for (const piece of pieces) {
        const end = at + piece.frames * SERVED_FRAME_BYTES
        if (end > from && at < until) yield* readPiece(files, piece, { from: from - at, until: until - at })
        at = end
      }
    },
  }
}

function piecesOf(parts: readonly StoredPart[], sessionStartedAt: Date | null): Piece[] {
  const [first] = parts
  const zeroMs = first ? beginsAtMs(sessionStartedAt, first.startedAt) : 0
  const pieces: Piece[] = []
  let end = 0
  for (const { path, startedAt, frames } of parts) {
    const gap = (startedAt.getTime() - zeroMs) * FRAMES_PER_MS - end
    if (gap > 0) pieces.push({ path: null, frames: gap })
    pieces.push({ path, frames })
    end += Math.max(0, gap) + frames
  }
  return pieces
}

type Span = { from: number; until: number }

/** The bytes of a piece within a span that may reach over both of its ends. */
async function* readPiece(files: Pick<RecordingFiles, 'open'>, piece: Piece, span: Span): AsyncIterable<Buffer> {
  const from = Math.max(0, span.from)
  const until = Math.min(piece.frames * SERVED_FRAME_BYTES, span.until)
  const end = Math.ceil(until / SERVED_FRAME_BYTES)
  const file = piece.path === null ? null : await files.open(piece.path)
  try {
    for (let at = Math.floor(from / SERVED_FRAME_BYTES); at < end; at += BLOCK_FRAMES) {
      const block = expanded(await readFrames(file, at, Math.min(BLOCK_FRAMES, end - at)))
      // A span may begin and end inside a frame.
      const start = at * SERVED_FRAME_BYTES
      yield block.subarray(Math.max(0, from - start), until - start)
    }
  } finally {
    await file?.close()
  }
}

type OpenFile = Awaited<ReturnType<RecordingFiles['open']>>

/** What a file does not have after all sounds like nothing. */
async function readFrames(file: OpenFile | null, at: number, count: number): Promise<Buffer> {
  const frames = Buffer.alloc(count * STORED_FRAME_BYTES, SILENCE)
  await file?.read(frames, 0, frames.length, STORED_HEADER_BYTES + at * STORED_FRAME_BYTES)
  return frames
}
