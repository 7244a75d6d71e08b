import { WITHOUT_BLANKS } from '../../kernel/writing.ts'

/** Texts of ours and of providers that say nothing of what anybody said: kinds, ids, names. Every other text is words. */
const NO_WORDS = new Set([
  ...['type', 'kind', 'why', 'role', 'status', 'state', 'phase', 'reason', 'timer', 'fault', 'code', 'errorCode'],
  ...['itemId', 'previousItemId', 'responseId', 'responseIds', 'callId', 'requestId', 'id', 'name', 'mark'],
  ...['asyncTools', 'backchannels', 'endKey', 'version', 'notThrough'],
])

/**
 * A copy in which every text that may be somebody's words is what `change` makes of it. What is undefined or a number of no JSON
 * (infinite) is not expected.
 */
export function withoutWords(value: unknown, change: (words: string) => unknown, key = ''): unknown {
  if (typeof value === 'string') return NO_WORDS.has(key) ? value : change(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one) => withoutWords(one, change, key))
  const copy: Record<string, unknown> = {}
  for (const [name, part] of Object.entries(value)) copy[name] = withoutWords(part, change, name)
  return copy
}

const [X, WHOLE, ZERO, LAST_ASCII] = ['x', 'X', '0', 0x7f]

/**
 * Words made unreadable: letters become x, those that may be a word alone X, digits 0, what stands over and under letters one accent, and of
 * the same length and kind, for that is all of a text that a session looks at. Spaces and signs stay. Where a word of writing without blanks ends is not to be seen any more.
 */
export function masked(words: string): string {
  let mask = ''
  for (let at = 0; at < words.length; at++) {
    const code = words.charCodeAt(at)
    if (code > LAST_ASCII) return mask + words.slice(at).replaceAll(/[\p{L}\p{M}\p{N}]/gu, maskOf)
    const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a
    const isDigit = code >= 0x30 && code <= 0x39
    mask += isLetter ? (code & 0x20 ? X : WHOLE) : isDigit ? ZERO : words[at]
  }
  return mask
}

function maskOf(character: string): string {
  const isShort = character.length === 1
  if (/\p{N}/u.test(character)) return isShort ? ZERO : '𝟎'
  if (/\p{M}/u.test(character)) return isShort ? '\u0301' : '\u{1d165}'
  // Its words are parted otherwise than those of other writing.
  if (WITHOUT_BLANKS.test(character)) return isShort ? '字' : '𠀀'
  if (/[\p{Lu}\p{Lo}]/u.test(character)) return isShort ? WHOLE : '𝐗'
  return isShort ? X : '𝐱'
}
