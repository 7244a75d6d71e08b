/** The audio of a clip, ready to be sent: base64 µ-law in pieces of half a second, the last a little longer. */
export type ClipAudio = { ms: number; pieces: readonly Buffer[] }

/** `usedAtMs`: when it was written down last that it was used; ms since the epoch. */
type Cached = ClipAudio & { usedAtMs: number }

/** Some 20 minutes of speech. */
const MAX_BYTES = 12 * 1024 * 1024

const BYTES_PER_MS = 8
/** 480 ms: whole groups of base64, so that no piece but the last needs padding; long enough to be worth a mark of its own. */
const PIECE_BYTES = 3_840

/** Clips that this process has used lately; the one that was used longest ago goes first. */
export class ClipCache {
  readonly #clips = new Map<string, Cached>()
  #sizeBytes = 0

  get(name: string): ClipAudio | null {
    const clip = this.#clips.get(name)
    if (!clip) return null
    // Set again, so that the map's order is the order of last use.
    this.#clips.delete(name)
    this.#clips.set(name, clip)
    return clip
  }

  /** Whether it is there and it was last written down before `sinceMs` that it was used; from now on it was at `nowMs`. */
  isToTouch(name: string, { nowMs, sinceMs }: { nowMs: number; sinceMs: number }): boolean {
    const clip = this.#clips.get(name)
    if (!clip || clip.usedAtMs >= sinceMs) return false
    clip.usedAtMs = nowMs
    return true
  }

  /** @param mulaw G.711 µ-law, 8 kHz. */
  put(name: string, mulaw: Buffer, usedAtMs: number): void {
    if (this.#clips.has(name)) return
    const clip = { usedAtMs, ms: mulaw.length / BYTES_PER_MS, pieces: piecesOf(mulaw) }
    this.#clips.set(name, clip)
    this.#sizeBytes += sizeOf(clip)
    for (const [oldest, other] of this.#clips) {
      if (this.#sizeBytes <= MAX_BYTES) break
      this.#clips.delete(oldest)
      this.#sizeBytes -= sizeOf(other)
    }
  }
}

function piecesOf(mulaw: Buffer): Buffer[] {
  const count = Math.max(1, Math.floor(mulaw.length / PIECE_BYTES))
  return Array.from({ length: count }, (_, index) => {
    const end = index === count - 1 ? mulaw.length : (index + 1) * PIECE_BYTES
    return Buffer.from(mulaw.subarray(index * PIECE_BYTES, end).toString('base64'))
  })
}

function sizeOf({ pieces }: ClipAudio): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}
