/** Gives a number from 0 up to, not including, 1. */
export type Random = () => number

/** A random sequence that a seed repeats (mulberry32): jitter and chance are the same in each run of a test. */
export function makeRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
