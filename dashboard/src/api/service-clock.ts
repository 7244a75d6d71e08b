/** Answers tell whole seconds and take a while: what differs less is no difference. */
const MOST_APART_MS = 2_000

let aheadMs = 0

/** Takes in what time an answer says it is where it was written. @param date a `date` header; without one nothing changes. */
export function noteServiceTime(date: string | null): void {
  const apartMs = Date.parse(date ?? '') - Date.now()
  if (!Number.isNaN(apartMs)) aheadMs = Math.abs(apartMs) > MOST_APART_MS ? apartMs : 0
}

/** What time it is for the service, in ms, however wrong the clock of this machine goes: what is late, and for how long, is judged there. */
export function serviceNow(): number {
  return Date.now() + aheadMs
}
