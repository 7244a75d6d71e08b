import { BYTES_PER_MS, silence } from '../audio/mulaw.ts'
import type { Speech } from '../speech/speech.ts'

/** When each character of a piece is said, in ms from the piece's beginning, as the provider tells it. */
type Alignment = { chars: string[]; charStartTimesMs: number[]; charDurationsMs: number[] }

/** A piece of speech, and what it says. */
export type AlignedPiece = { mulaw: Uint8Array; alignment: Alignment }

/** About how much of speech one message holds. */
const PIECE_MS = 900
const SENTENCE_PAUSE_MS = 240

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })

/**
 * Speaks a text in pieces of whole words. The simulator's voice does not tell when it says what: the characters of each sentence are
 * spread evenly over its sound, which is true to within a word.
 */
export async function alignedSpeech(speech: Speech, text: string): Promise<AlignedPiece[]> {
  const sentences = [...segmenter.segment(text)].map(({ segment }) => segment)
  const spoken = await Promise.all(sentences.map((sentence) => speech.say(sentence)))
  return sentences.flatMap((sentence, at) => {
    const isLast = at === sentences.length - 1
    return piecesOf([...sentence], spoken[at] ?? new Uint8Array(0), isLast ? 0 : SENTENCE_PAUSE_MS)
  })
}

function piecesOf(chars: string[], mulaw: Uint8Array, pauseMs: number): AlignedPiece[] {
  if (mulaw.length === 0) return []
  const charMs = mulaw.length / BYTES_PER_MS / chars.length
  const pieces: AlignedPiece[] = []
  for (let from = 0; from < chars.length; ) {
    const until = pieceEnd(chars, from, Math.ceil(PIECE_MS / charMs))
    const isLast = until === chars.length
    const [fromByte, untilByte] = [from, until].map((at) => Math.round(at * charMs * BYTES_PER_MS))
    const sound = mulaw.subarray(fromByte, isLast ? mulaw.length : untilByte)
    pieces.push({
      mulaw: isLast ? Buffer.concat([sound, silence(pauseMs)]) : sound,
      alignment: alignmentOf(chars.slice(from, until), charMs),
    })
    from = until
  }
  return pieces
}

/** Behind the white space after the word that is said then. */
function pieceEnd(chars: string[], from: number, length: number): number {
  const space = chars.findIndex((char, at) => at >= from + length - 1 && /\s/.test(char))
  return space === -1 ? chars.length : space + 1
}

function alignmentOf(chars: string[], charMs: number): Alignment {
  const charStartTimesMs = chars.map((_, at) => Math.round(at * charMs))
  const charDurationsMs = chars.map((_, at) => Math.round((at + 1) * charMs) - (charStartTimesMs[at] ?? 0))
  return { chars, charStartTimesMs, charDurationsMs }
}
