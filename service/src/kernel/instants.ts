/** The instants that the API takes and tells: those whose year has four digits, as RFC 3339 wants it. */
export const FIRST_INSTANT_MS = Date.parse('0001-01-01T00:00:00.000Z')
export const LAST_INSTANT_MS = Date.parse('9999-12-31T23:59:59.999Z')

/** Whether an instant is one of those. */
export function canBeTold(instant: Date): boolean {
  const ms = instant.getTime()
  return ms >= FIRST_INSTANT_MS && ms <= LAST_INSTANT_MS
}
