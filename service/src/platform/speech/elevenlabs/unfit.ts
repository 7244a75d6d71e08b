/** Statuses of a handshake that say something of what was asked for, and nothing of who was asked. */
const STATUSES = [400, 404, 405, 414, 422]
/** What the provider calls a voice, a model or a language that it does not have, or does not give to this account. */
const CODES =
  /\b(?:voice|model|language)(?:_id)?(?:_code)?_(?:not_found|does_not_exist|not_available|not_supported|not_allowed|limit_reached)\b|\b(?:invalid|unsupported|unknown)_(?:voice|model|language|uid)/i
const WORDS =
  /\bvoice\b[^.]*\b(?:not found|does not exist|not available)\b|\bmodel\b[^.]*\b(?:not found|does not exist)\b/i
/** What is looked at: sentences have some hundreds, and `WORDS` takes the square of it in one that says "voice" over and over. */
const MAX_TOLD_CHARS = 1_000

/** Whether a handshake that was answered with this status was refused for what it asked for: this voice, or how it is to speak. */
export function isUnfitStatus(status: number | null): boolean {
  return status !== null && STATUSES.includes(status)
}

/** Whether the provider's own words blame what was asked for. What is not recognised is the provider's fault. */
export function isUnfitReason(reason: string): boolean {
  const told = reason.slice(0, MAX_TOLD_CHARS)
  return CODES.test(told) || WORDS.test(told)
}
