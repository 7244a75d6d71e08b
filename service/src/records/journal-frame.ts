import { crc32 } from 'node:zlib'

/** What a file of frames holds. `damaged` lines were written whole and do not read as they were; a torn last one is left out. */
export type Unframed = { values: unknown[]; damaged: number }

const SUM_CHARS = 8

/** A value of JSON as one line, its checksum before it: whoever reads it knows whether it is whole. */
export function frame(value: unknown): string {
  const json = JSON.stringify(value)
  return `${sumOf(json)} ${json}\n`
}

/**
 * Reads lines of `frame`. What follows the last line's end was being written when its process ended, and is ignored; a line
 * that is not what its checksum says is counted, and the others are read.
 */
export function unframe(text: string): Unframed {
  const lines = text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .slice(0, -1)
  const read = lines.map(parsedLine)
  const values = read.flatMap((each) => (each ? [each.value] : []))
  return { values, damaged: read.length - values.length }
}

function parsedLine(line: string): { value: unknown } | null {
  const json = line.slice(SUM_CHARS + 1)
  if (line.slice(0, SUM_CHARS) !== sumOf(json) || line[SUM_CHARS] !== ' ') return null
  try {
    return { value: JSON.parse(json) as unknown }
  } catch {
    return null
  }
}

function sumOf(json: string): string {
  return crc32(json).toString(16).padStart(SUM_CHARS, '0')
}
