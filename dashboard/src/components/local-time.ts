/** The last that a field of day and time takes: without one its years have six digits, and whoever types on after the fourth goes on in the year. */
export const LAST_MINUTE = '9999-12-31T23:59'

/** An instant of the API as a field of day and time has it, in the zone of whoever looks: to the minute. Of none, nothing. */
export function localTime(at: string | null): string {
  if (at === null) return ''
  const date = new Date(at)
  const of = (value: number, digits = 2) => String(value).padStart(digits, '0')
  const day = [of(date.getFullYear(), 4), of(date.getMonth() + 1), of(date.getDate())].join('-')
  return `${day}T${of(date.getHours())}:${of(date.getMinutes())}`
}

/** What such a field has, as an instant of the API; null for nothing. */
export function instantOf(text: string): string | null {
  return text === '' ? null : new Date(text).toISOString()
}
