const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** How long after each failed attempt the next one comes; after the last of them there is none. */
const DELAYS_MS = [
  ...[5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS],
  ...[2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS, 10 * HOUR_MS],
]

/** Added at most, so that what failed together does not come back together. */
const JITTER = 0.2
/** A target that asks for more patience gets this much. */
const LONGEST_WAIT_MS = 24 * HOUR_MS

type Failed = {
  /** Attempts since the event, or since its last redelivery, that came to an end. */
  tries: number
  /** What the target asked for. */
  retryAfterMs: number | null
  /** From 0 to 1, by chance. */
  chance: number
}

/** How long to wait for the next attempt, in ms; null when the last one was made. */
export function nextDelayMs({ tries, retryAfterMs, chance }: Failed): number | null {
  const delayMs = DELAYS_MS[tries - 1]
  if (delayMs === undefined) return null
  const usualMs = Math.round(delayMs * (1 + JITTER * chance))
  return Math.max(usualMs, Math.min(retryAfterMs ?? 0, LONGEST_WAIT_MS))
}

/**
 * Reads a `Retry-After` (RFC 9110): seconds, or an instant.
 *
 * @returns ms from `nowMs` on; null for what is neither.
 */
export function readRetryAfter(value: string | string[] | undefined, nowMs: number): number | null {
  if (typeof value !== 'string') return null
  const text = value.trim()
  if (/^\d+$/.test(text)) return Number(text) * SECOND_MS
  const atMs = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs)
}
