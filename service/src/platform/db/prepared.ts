import { type RawBuilder, sql } from 'kysely'

const MARK = '/* prepared */'

/**
 * A statement that a PostgreSQL server reads and plans once for each connection, and not each time: for those that every call needs and
 * that find their rows by a key, so that one plan is right for all values. Its text must not vary with them.
 */
export function prepared<Row>(statement: RawBuilder<Row>): RawBuilder<Row> {
  return sql<Row>`${sql.raw(MARK)} ${statement}`
}

/** Each takes memory in each connection; a statement that comes when so many are known is read and planned each time. */
const NAMES_MAX = 200

/** What the prepared statements of a pool are called on its connections. */
export class PreparedNames {
  readonly #names = new Map<string, string>()

  /** Undefined for a statement that is not to be prepared. */
  nameOf(statement: string): string | undefined {
    if (!statement.startsWith(MARK)) return undefined
    const known = this.#names.get(statement)
    if (known !== undefined || this.#names.size >= NAMES_MAX) return known
    const name = `parley_${this.#names.size + 1}`
    this.#names.set(statement, name)
    return name
  }
}
