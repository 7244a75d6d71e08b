/** The members of a JSON object; none for any other text. */
export function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** Whether a value is a list of objects, each with texts of these names. */
export function isListOf(value: unknown, ...names: string[]): boolean {
  const isEntry = (entry: unknown) =>
    typeof entry === 'object' &&
    entry !== null &&
    names.every((name) => typeof (entry as Record<string, unknown>)[name] === 'string')
  return Array.isArray(value) && value.every(isEntry)
}
