const NS_PER_MS = 1_000_000

/** Milliseconds of the machine's monotonic clock: the same in every process, so that their notes can be compared. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / (NS_PER_MS / 1_000)
}
