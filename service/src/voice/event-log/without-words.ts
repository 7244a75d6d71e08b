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

const [X, WHOLE, ZERO] = ['x', 'X', '0']
const NOT_ASCII = /[^\0-\x7f]/
/** What each character of ASCII becomes. */
const MASKS = Uint8Array.from({ length: 128 }, (_, code) => asciiMaskOf(String.fromCharCode(code)).charCodeAt(0))

/**
 * Words made unreadable: letters become x, those that may be a word alone X, digits 0, what stands over and under letters one accent, and of
 * the same length and kind, for that is all of a text that a session looks at. Spaces and signs stay. Where a word of writing without blanks ends is not to be seen any more.
 */
export function masked(words: string): string {
  const other = words.search(NOT_ASCII)
  if (other === -1) return maskedAscii(words)
  return maskedAscii(words.slice(0, other)) + words.slice(other).replaceAll(/[\p{L}\p{M}\p{N}]/gu, maskOf)
}

/** By its bytes: a conversation of hours is masked at once, where another process goes on with it. */
function maskedAscii(words: string): string {
  const bytes = Buffer.from(words, 'latin1')
  for (let at = 0; at < bytes.length; at++) bytes[at] = MASKS[bytes[at] as number] as number
  return bytes.toString('latin1')
}

function asciiMaskOf(character: string): string {
  if (/[a-z]/.test(character)) return X
  if (/[A-Z]/.test(character)) return WHOLE
  return /\d/.test(character) ? ZERO : character
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
