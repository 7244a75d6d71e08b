/** What differs by less is no difference. */
const TOLERANCE_MS = 1_000

let aheadMs = 0

/**
 * Takes in what time it was for the service when it answered, somewhere between `sentMs` and now.
 *
 * @param saidMs an `x-service-time` header; without one, as before an older node, nothing changes.
 */
export function noteServiceTime(saidMs: string | null, sentMs: number): void {
  if (saidMs === null) return
  const halfMs = (Date.now() - sentMs) / 2
  const apartMs = Number(saidMs) - (sentMs + halfMs)
  // Of an answer that took long it is not known when it was written.
  if (Math.abs(apartMs - aheadMs) > TOLERANCE_MS + Math.abs(halfMs))
    aheadMs = Math.abs(apartMs) > TOLERANCE_MS ? apartMs : 0
}

/** What time it is for the service, in ms, however wrong the clock of this machine goes: what is late, and for how long, is judged there. */
export function serviceNow(): number {
  return Date.now() + aheadMs
}
