import { FRAME_BYTES, SILENCE } from '../audio/mulaw.ts'

/** What a party hears in 20 ms: the audio, and where in it a new piece begins (offsets in bytes). */
export type Heard = { frame: Uint8Array; seams: number[] }

/** What stands at the other end of a party's line for now: a stream, an announcement, another party, nothing. */
export type FarEnd = {
  /** Takes 20 ms of the party's voice and gives the 20 ms that the party hears meanwhile. */
  exchange(voice: Uint8Array): Heard
  /** The party pressed a key. */
  key(digit: string): void
}

const QUIET: Heard = { frame: new Uint8Array(FRAME_BYTES).fill(SILENCE), seams: [] }

/** Nobody: silence, and keys that lead nowhere. */
export const NOBODY: FarEnd = { exchange: () => QUIET, key: () => {} }
