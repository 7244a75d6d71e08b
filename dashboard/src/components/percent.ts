/** A score from 0 to 1, of four decimals at most, as it is read: never as one of 80% that is not of high quality yet. */
export function percentText(score: number): string {
  return `${Math.floor(Math.round(score * 10_000) / 100)}%`
}
