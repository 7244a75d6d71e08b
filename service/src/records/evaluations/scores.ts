/** A score as it is kept: from 0 to 1, with four decimals at most. */
export function asScore(value: number): number {
  return Math.min(1, Math.max(0, Math.round(value * 10_000) / 10_000))
}

/** The average by weight (1 where none is given) as a score; null of none. */
export function averageOf(scores: { score: number; weight?: number }[]): number | null {
  const weights = scores.reduce((sum, { weight = 1 }) => sum + weight, 0)
  if (weights === 0) return null
  return asScore(scores.reduce((sum, { score, weight = 1 }) => sum + score * weight, 0) / weights)
}
