import { isJsonObject } from '../../../kernel/json-object.ts'
/** A JSON object as it came, before anything is known of it. */
export type Json = Record<string, unknown>

/** Longer than those of any provider. */
export const MAX_ID_CHARS = 128

const WORD = /^[\w.-]{1,64}$/

/** A server event that is no JSON object, or lacks what its type promises. */
export class MalformedEvent extends Error {
  override readonly name = 'MalformedEvent'
}

/** @throws MalformedEvent for anything but a JSON object. */
export function parseEvent(frame: Buffer): Json {
  try {
    const value: unknown = JSON.parse(frame.toString('utf8'))
    if (isJsonObject(value)) return value
  } catch {
    // What is wrong with the text helps nobody, and the error would quote it.
  }
  throw new MalformedEvent('an event is no JSON object')
}

/** The member as an object; an empty one when it is none. */
export function object(fields: Json, name: string): Json {
  const value = fields[name]
  return isJsonObject(value) ? value : {}
}

/** The objects of a list; none when it is no list. */
export function objects(fields: Json, name: string): Json[] {
  const value = fields[name]
  if (!Array.isArray(value)) return []
  return value.filter((each: unknown): each is Json => typeof each === 'object' && each !== null)
}

/** @throws MalformedEvent when the member is no text. */
export function text(fields: Json, name: string): string {
  const value = textOrNull(fields, name)
  if (value === null) throw new MalformedEvent(`an event has no ${name}`)
  return value
}

/** The member as a text; null when it is none. */
export function textOrNull(fields: Json, name: string): string | null {
  const value = fields[name]
  return typeof value === 'string' ? value : null
}

/** @throws MalformedEvent when the member is no text of at most 128 characters: ids are kept, and told to others. */
export function id(fields: Json, name: string): string {
  const value = idOrNull(fields, name)
  if (value === null) throw new MalformedEvent(`an event has no ${name}`)
  return value
}

/** The member as an id; null when it is no text. @throws MalformedEvent when it is longer than 128 characters. */
export function idOrNull(fields: Json, name: string): string | null {
  const value = textOrNull(fields, name)
  if (value !== null && value.length > MAX_ID_CHARS) throw new MalformedEvent(`an event has an endless ${name}`)
  return value
}

/** The member as a number of something, whole or not; 0 when it is none. */
export function amount(fields: Json, name: string): number {
  const value = fields[name]
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0
}

/** The member as a whole number of something; 0 when it is none. */
export function count(fields: Json, name: string): number {
  const value = amount(fields, name)
  return Number.isSafeInteger(value) ? value : 0
}

/** The member as a word that programs look at, such as an error's code; null when it is none. */
export function wordOrNull(fields: Json, name: string): string | null {
  const value = textOrNull(fields, name)
  return value !== null && WORD.test(value) ? value : null
}
