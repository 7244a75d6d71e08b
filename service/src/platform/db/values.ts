import pg from 'pg'

type Parse = (text: string) => unknown

const { builtins } = pg.types

/** PostgreSQL's own identifiers of its array types, which `pg` does not name. */
const ARRAY_OF = { text: 1009, int8: 1016, numeric: 1231, date: 1182, timestamp: 1115 }

/** What we read otherwise than `pg` does by itself. */
const PARSERS: Record<number, Parse> = {
  [builtins.INT8]: integer,
  [builtins.NUMERIC]: Number,
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
