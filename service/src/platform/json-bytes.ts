/**
 * Looking at JSON as bytes. What is taken this way is spliced into other messages unread, so every byte of it is checked
 * against its alphabet first: no alphabet holds a quote, a backslash or a control character.
 */

/** Letters, digits and what else ids are made of. */
export const ID = 1
/** Decimal digits. */
export const DIGIT = 2
/** Base64 without its padding. */
const BASE64 = 4
/** What stands for itself in a string of JSON, and is one byte. */
export const PLAIN = 8

const EQUALS = 0x3d
const GROUP_CHARS = 4
const STRIDE = 8

/** For each byte the alphabets that it belongs to. */
const ALPHABETS = new Uint8Array(256)
for (let byte = 0; byte < 256; byte++) {
  const char = String.fromCharCode(byte)
  const id = /[\w.:-]/.test(char) ? ID : 0
  const digit = /[0-9]/.test(char) ? DIGIT : 0
  const base64 = /[A-Za-z0-9+/]/.test(char) ? BASE64 : 0
  const plain = /[ !#-[\]-~]/.test(char) ? PLAIN : 0
  ALPHABETS[byte] = id | digit | base64 | plain
}

/** Whether these very bytes stand in `bytes` at `at`. */
export function standsAt(bytes: Buffer, at: number, literal: Buffer): boolean {
  if (at + literal.length > bytes.length) return false
  for (let i = 0; i < literal.length; i++) if (bytes[at + i] !== literal[i]) return false
  return true
}

/** Where the run of bytes of an alphabet ends that begins at `start`: `start` itself when there is none. */
export function runEnd(bytes: Buffer, start: number, alphabet: number): number {
  const { length } = bytes
  let at = start
  while (at < length && ((ALPHABETS[bytes[at] as number] as number) & alphabet) !== 0) at++
  return at
}

/** Where the base64 ends that begins at `start`, padding included; -1 when it is not made of whole groups of four. */
export function base64End(bytes: Buffer, start: number): number {
  const runsTo = runEnd(bytes, stridesEnd(bytes, start), BASE64)
  let end = runsTo
  while (end - runsTo < 2 && bytes[end] === EQUALS) end++
  return (end - start) % GROUP_CHARS === 0 ? end : -1
}

/** Eight bytes at a time: 20 ms of audio are 216 of them, half a second more than five thousand. */
function stridesEnd(bytes: Buffer, start: number): number {
  const last = bytes.length - STRIDE
  let at = start
  while (at <= last && isBase64(bytes, at)) at += STRIDE
  return at
}

function isBase64(bytes: Buffer, at: number): boolean {
  const a = ALPHABETS[bytes[at] as number] as number
  const b = ALPHABETS[bytes[at + 1] as number] as number
  const c = ALPHABETS[bytes[at + 2] as number] as number
  const d = ALPHABETS[bytes[at + 3] as number] as number
  const e = ALPHABETS[bytes[at + 4] as number] as number
  const f = ALPHABETS[bytes[at + 5] as number] as number
  const g = ALPHABETS[bytes[at + 6] as number] as number
  const h = ALPHABETS[bytes[at + 7] as number] as number
  return (a & b & c & d & e & f & g & h & BASE64) !== 0
}

/** How many bytes a whole base64 text stands for. */
export function decodedBytes(base64: Buffer): number {
  const { length } = base64
  const padding = base64[length - 1] !== EQUALS ? 0 : base64[length - 2] === EQUALS ? 2 : 1
  return (length / GROUP_CHARS) * 3 - padding
}
