import { isJsonObject } from '../../../kernel/json-object.ts'

type Json = Record<string, unknown>

/** What one message of the provider says. */
export type Heard = {
  /** Base64 µ-law; empty when there is none. */
  audio: string
  /** The characters of it, and where each ends in ms from the beginning of this audio. */
  text: string
  endsMs: number[]
  isFinal: boolean
  /** Null when nothing is wrong. */
  error: string | null
}

/** Whole groups, padded at the end alone: it is put between the bytes of other frames as it is. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/**
 * Reads a message, by either of the spellings that the provider's own pages have for its members.
 * @throws SyntaxError when it is no JSON, or its audio no base64.
 */
export function readMessage(bytes: Buffer): Heard {
  const fields = object(JSON.parse(bytes.toString('utf8')) as unknown)
  const audio = typeof fields['audio'] === 'string' ? fields['audio'] : ''
  if (!BASE64.test(audio)) throw new SyntaxError('audio that is no base64')
  const given = fields['alignment'] ?? fields['normalizedAlignment'] ?? fields['normalized_alignment']
  return {
    audio,
    ...aligned(object(given)),
    isFinal: fields['isFinal'] === true || fields['is_final'] === true,
    error: errorIn(fields),
  }
}

function errorIn(fields: Json): string | null {
  if (fields['error'] === undefined || fields['error'] === null) return null
  const { error, message } = fields
  return [error, message].filter((part) => typeof part === 'string').join(': ')
}

function aligned(alignment: Json): { text: string; endsMs: number[] } {
  const chars = list(alignment['chars'] ?? alignment['characters'])
  const starts = list(alignment['charStartTimesMs'] ?? alignment['char_start_times_ms'])
  const durations = list(
    alignment['charDurationsMs'] ?? alignment['charsDurationsMs'] ?? alignment['char_durations_ms'],
  )
  const isSound = chars.length === starts.length && chars.length === durations.length
  if (!isSound || !chars.every((char) => typeof char === 'string')) return { text: '', endsMs: [] }
  // A character is one step of the text, whatever it takes to write it down.
  const ends = chars.flatMap((char, at) => Array.from(char, () => Number(starts[at]) + Number(durations[at])))
  return ends.every(Number.isFinite) ? { text: chars.join(''), endsMs: ends } : { text: '', endsMs: [] }
}

function object(value: unknown): Json {
  return isJsonObject(value) ? value : {}
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
