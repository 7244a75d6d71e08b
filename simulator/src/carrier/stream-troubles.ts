import type { Malformation, StreamEnding, StreamFaults } from './faults.ts'

/** What befalls a stream at this frame. */
export type StreamTroubles = {
  cut: StreamEnding | null
  secondStart: boolean
  malformed: Malformation | null
  timestampJumpMs: number
  mediaPauseMs: number
  slowReaderMs: number
  burstFrames: number
}

/** Takes out of the switches what is due `elapsedMs` after the stream's start: each happens once. */
export function troublesDue(faults: StreamFaults, elapsedMs: number): StreamTroubles {
  const due = <K extends OneTime>(key: K): StreamFaults[K] | null => {
    const fault = faults[key]
    if (fault === null || fault.atMs > elapsedMs) return null
    faults[key] = null
    return fault
  }
  return {
    cut: due('cut')?.how ?? null,
    secondStart: due('secondStart') !== null,
    malformed: due('malformed')?.kind ?? null,
    timestampJumpMs: due('timestampJump')?.byMs ?? 0,
    mediaPauseMs: due('mediaPause')?.forMs ?? 0,
    slowReaderMs: due('slowReader')?.forMs ?? 0,
    burstFrames: due('burst')?.frames ?? 0,
  }
}

type OneTime = 'cut' | 'secondStart' | 'malformed' | 'timestampJump' | 'mediaPause' | 'slowReader' | 'burst'
