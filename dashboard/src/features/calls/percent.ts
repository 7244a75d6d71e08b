/** A score from 0 to 1 as it is read. */
export function percentText(score: number): string {
  return `${Math.round(score * 100)}%`
}
