import { SAMPLE_RATE_HZ } from '../audio/mulaw.ts'

// Frames of one phrase that stand further apart in the audio than this belong to two utterances of it.
const MAX_GAP_BYTES = 2 * SAMPLE_RATE_HZ

/** One known phrase: its audio and the places, in bytes, of its frames that can be recognised. */
export type Phrase = { text: string; audio: Uint8Array; frameOffsets: number[] }

/** A frame of a phrase (at `offset` in it), found at a place in the audio; both in bytes. */
export type PhraseHit = { phrase: Phrase; offset: number; at: number }

/** One utterance of a phrase, or of a part of it. */
export type Occurrence = { phrase: Phrase; firstOffset: number; lastOffset: number }

/**
 * Groups hits, given in the order of the audio, into utterances in that order.
 * Phrases that begin alike share frames: each frame is given to the utterance that explains the most of the audio.
 */
export function occurrences(hits: PhraseHit[]): Occurrence[] {
  const taken = new Set<number>()
  const chosen: PhraseHit[][] = []
  for (const run of groupRuns(hits).sort((a, b) => b.length - a.length)) {
    const own = run.filter((hit) => !taken.has(hit.at))
    if (own.length === 0) continue
    for (const hit of own) taken.add(hit.at)
    chosen.push(own)
  }
  return chosen.sort((a, b) => startOf(a) - startOf(b)).flatMap(toOccurrence)
}

function groupRuns(hits: PhraseHit[]): PhraseHit[][] {
  const runs: PhraseHit[][] = []
  const open = new Map<Phrase, PhraseHit[]>()
  for (const hit of hits) {
    const run = open.get(hit.phrase)
    const last = run?.at(-1)
    if (run && last && hit.offset > last.offset && hit.at - last.at < MAX_GAP_BYTES) {
      run.push(hit)
      continue
    }
    const fresh = [hit]
    runs.push(fresh)
    open.set(hit.phrase, fresh)
  }
  return runs
}

function toOccurrence(run: PhraseHit[]): Occurrence[] {
  const first = run[0]
  const last = run.at(-1)
  return first && last ? [{ phrase: first.phrase, firstOffset: first.offset, lastOffset: last.offset }] : []
}

function startOf(run: PhraseHit[]): number {
  return run[0]?.at ?? 0
}
