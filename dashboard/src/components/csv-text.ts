/** What a CSV file says; null when it is not in UTF-8, as one that a spreadsheet has saved in the letters of its own system. */
export function csvText(bytes: ArrayBuffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
