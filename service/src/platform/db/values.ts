import pg from 'pg'

type Parse = (text: string) => unknown

const { builtins } = pg.types

/** PostgreSQL's own identifiers of its array types, which `pg` does not name. */
const ARRAY_OF = { text: 1009, int8: 1016, numeric: 1231, date: 1182, timestamp: 1115 }

/** What we read otherwise than `pg` does by itself. */
const PARSERS: Record<number, Parse> = {
  [builtins.INT8]: integer,
  [builtins.NUMERIC]: Number,
  [builtins.TIMESTAMPTZ]: instant,
  // A day or a clock time without a zone is not an instant, so it does not become a Date.
  [builtins.DATE]: asText,
  [builtins.TIMESTAMP]: asText,
  [ARRAY_OF.int8]: arrayOf(integer),
  [ARRAY_OF.numeric]: arrayOf(Number),
  [ARRAY_OF.date]: arrayOf(asText),
  [ARRAY_OF.timestamp]: arrayOf(asText),
}

/**
 * How a value of a PostgreSQL type is read, the same on both databases: int8 and numeric become numbers, timestamptz a
 * Date, date a string, bytea a Buffer, json and jsonb what they hold; types that we do not use stay text.
 *
 * The parser throws RangeError for an int8 that a JavaScript number cannot hold.
 *
 * @param typeId the `oid` of the type.
 */
export function parserOf(typeId: number): Parse {
  const usual: Parse = pg.types.getTypeParser(typeId, 'text')
  return PARSERS[typeId] ?? usual
}

const readInstant: Parse = pg.types.getTypeParser(builtins.TIMESTAMPTZ, 'text')

/** `2026-01-31 09:05:00.123+00` has so many characters, or fewer where the milliseconds end in zeros. */
const INSTANT_CHARS = 26

/** Lists are full of instants, and in UTC, as both databases write them, they are nearly what the language itself reads. */
function instant(text: string): unknown {
  const isUsual = text.length <= INSTANT_CHARS && text[10] === ' ' && text.endsWith('+00')
  return isUsual ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`) : readInstant(text)
}

function asText(text: string): string {
  return text
}

function integer(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 out of the range of a number: ${text}`)
  return value
}

function arrayOf(parse: Parse): Parse {
  const parseTextArray: Parse = pg.types.getTypeParser(ARRAY_OF.text, 'text')
  const each = (item: unknown): unknown => {
    if (Array.isArray(item)) return item.map(each)
    return typeof item === 'string' ? parse(item) : item
  }
  return (text) => each(parseTextArray(text))
}
