/** The rows of a list, by what tells them apart, and which of them was gone to. */
export type Stepped = { rows: readonly string[]; at: number }

/**
 * Where a step along the rows leads, from the one that was gone to last: to the next one (`by` is 1) or the one before (-1) of those that
 * are still there, whether or not that row is. At either end it stays. Where none of them is there any more it begins anew.
 */
export function nextRow(rows: readonly string[], by: 1 | -1, last: Stepped | null): number {
  if (last === null || !last.rows.some((row) => rows.includes(row))) return 0
  const onward = by === 1 ? last.rows.slice(last.at + 1) : last.rows.slice(0, last.at).reverse()
  const next = onward.find((row) => rows.includes(row))
  if (next !== undefined) return rows.indexOf(next)
  return by === 1 ? rows.length - 1 : 0
}
