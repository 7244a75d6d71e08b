import type { ListPart } from './list-part.ts'

type Asked<Row> = {
  part: (cursor: string | undefined) => Promise<ListPart<Row>>
  keyOf: (row: Row) => string
}

/** As many parts are asked for at most. */
const MOST_PARTS = 3

/**
 * Reads the first parts of a list again until they lead to a row that was known, and puts what was known after it behind them: what
 * has changed further down stays as it was. When so much is new that they lead to none, the list begins anew with what was read.
 */
export async function begunAnew<Row>(known: ListPart<Row>[], { part, keyOf }: Asked<Row>): Promise<ListPart<Row>[]> {
  const read: ListPart<Row>[] = []
  let cursor: string | undefined
  do {
    const found = await part(cursor)
    read.push(found)
    const last = found.rows.at(-1)
    const rest = last && restAfter(known, keyOf, keyOf(last))
    if (rest) return joined(read, rest, keyOf)
    cursor = found.next ?? undefined
  } while (cursor !== undefined && read.length < MOST_PARTS)
  return read
}

/** What was known after a row; undefined when it was not known. */
function restAfter<Row>(known: ListPart<Row>[], keyOf: (row: Row) => string, key: string): ListPart<Row>[] | undefined {
  for (const [at, { rows, next }] of known.entries()) {
    const place = rows.findIndex((row) => keyOf(row) === key)
    if (place >= 0) return [{ rows: rows.slice(place + 1), next }, ...known.slice(at + 1)]
  }
  return undefined
}

/** A row that has moved to the beginning stands there alone. */
function joined<Row>(read: ListPart<Row>[], rest: ListPart<Row>[], keyOf: (row: Row) => string): ListPart<Row>[] {
  const rows = read.flatMap((each) => each.rows)
  const isRead = new Set(rows.map(keyOf))
  const isNew = (row: Row) => !isRead.has(keyOf(row))
  const left = rest.map((each) => (each.rows.every(isNew) ? each : { ...each, rows: each.rows.filter(isNew) }))
  const [first = { rows: [], next: null }, ...others] = left
  return [{ rows: [...rows, ...first.rows], next: first.next }, ...others]
}
