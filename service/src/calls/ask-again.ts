import type { CallVerb } from '../platform/telephony/port.ts'

/** How often in a row a carrier is told to ask again: what is not known by then, the caller cannot wait for. */
export const MAX_ASKED_AGAIN = 5
const PAUSE_SECONDS = 2

/**
 * The carrier waits for a moment and asks once more what comes next, which another node may answer. `times` is how often it was
 * told so before, which the address says.
 *
 * @returns null when that was five times.
 */
export function askAgain(resumeUrl: string, times: number): CallVerb[] | null {
  if (times >= MAX_ASKED_AGAIN) return null
  const url = new URL(resumeUrl)
  url.searchParams.set('again', String(times + 1))
  return [
    { type: 'pause', seconds: PAUSE_SECONDS },
    { type: 'redirect', url: url.toString() },
  ]
}
