/** Bytes `from` up to but not including `until`. */
export type ByteRange = { from: number; until: number }

/**
 * What a `Range` header asks for, of something of `sizeBytes` (RFC 9110, section 14). Null means all of it: without the
 * header, and for what may be ignored, which are other units, what is malformed, and several ranges at once.
 */
export function readRange(header: string | undefined, sizeBytes: number): ByteRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/i.exec(header ?? '') ?? []
  if (first === '' && last === '') return null
  if (first === '') return within(Math.max(0, sizeBytes - Number(last)), sizeBytes, sizeBytes)
  if (last !== '' && Number(last) < Number(first)) return null
  const until = last === '' ? sizeBytes : Math.min(sizeBytes, Number(last) + 1)
  return within(Number(first), until, sizeBytes)
}

function within(from: number, until: number, sizeBytes: number): ByteRange | 'unsatisfiable' {
  return from >= sizeBytes ? 'unsatisfiable' : { from, until }
}
