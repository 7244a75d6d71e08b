/** How a turn begins that tells what the caller has keyed in. */
export const PRESSED = 'The caller pressed these keys: '

/** What is written down of keys that were pressed. */
export function pressed(keys: string): string {
  return `${PRESSED}${keys}`
}

/** The keys of which this was written down; null when it is something else. */
export function keysIn(text: string): string | null {
  return text.startsWith(PRESSED) ? text.slice(PRESSED.length) : null
}
