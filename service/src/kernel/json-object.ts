/** An object of JSON: neither null nor a list. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object of JSON that a text is; null for anything else. Arguments of a function without any may be no text at all. */
export function objectIn(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text.trim() === '' ? '{}' : text)
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}
