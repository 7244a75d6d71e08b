/**
 * Where roll-ups begin that are asked for, and end. Those of an hour or less are all that begin at `from` or later and before `to`;
 * a longer one is one, from `from` to `to`.
 */
export type RollupRange = { minutes: number; from: Date; to: Date }

/** A day in UTC. */
export const DAY_MINUTES = 1_440
/** The longest span that is in every day of every zone, whole hours of UTC as it is: it begins at each hour. */
export const NEARLY_DAY_MINUTES = 1_380
export const HOUR_MINUTES = 60
/** Wherever a zone's days and hours begin, so does a quarter of an hour of UTC. */
const QUARTER_MINUTES = 15
const MINUTE_MS = 60_000

/** The longest first, with the minutes of which each begins at a multiple. */
const KINDS = [
  { minutes: DAY_MINUTES, beginsEach: DAY_MINUTES },
  { minutes: NEARLY_DAY_MINUTES, beginsEach: HOUR_MINUTES },
  { minutes: HOUR_MINUTES, beginsEach: HOUR_MINUTES },
]

/**
 * Which roll-ups add up to the spans that begin at each edge and end before the next one; none belongs to two of them. A day in UTC
 * is one roll-up, in a zone of whole hours two or three of them, in one of half hours five or six.
 */
export function rangesOf(edges: readonly Date[]): RollupRange[] {
  const ranges: RollupRange[] = []
  for (const [at, edge] of edges.slice(0, -1).entries()) {
    const endMs = edges[at + 1]?.getTime() ?? 0
    for (let ms = edge.getTime(); ms < endMs; ) {
      const minutes = longestFrom(ms, endMs)
      const to = ms + minutes * MINUTE_MS
      append(ranges, { minutes, from: new Date(ms), to: new Date(to) })
      ms = to
    }
  }
  return ranges
}

function longestFrom(ms: number, endMs: number): number {
  const found = KINDS.find(
    ({ minutes, beginsEach }) => ms % (beginsEach * MINUTE_MS) === 0 && ms + minutes * MINUTE_MS <= endMs,
  )
  return found?.minutes ?? QUARTER_MINUTES
}

/** Short neighbours of one length are one range, also where another span begins between them. */
function append(ranges: RollupRange[], next: RollupRange): void {
  const last = ranges.at(-1)
  const isOne = last?.minutes === next.minutes && last.to.getTime() === next.from.getTime()
  if (last && isOne && next.minutes <= HOUR_MINUTES) last.to = next.to
  else ranges.push(next)
}
