import { type RawBuilder, sql } from 'kysely'

const MARK = '/* prepared */'
const VARIED_MARK = '/* prepared, one of many */'

/**
 * A statement that a PostgreSQL server reads and plans once for each connection, and not each time: for those that every call needs and
 * that find their rows by a key, so that one plan is right for all values. Its text must not vary with them.
 */
export function prepared<Row>(statement: RawBuilder<Row>): RawBuilder<Row> {
  return sql<Row>`${sql.raw(MARK)} ${statement}`
}

/**
 * The same for a statement whose text varies, though not with its values: however many of them there are, they leave room for those
 * that do not.
 */
export function preparedVaried<Row>(statement: RawBuilder<Row>): RawBuilder<Row> {
  return sql<Row>`${sql.raw(VARIED_MARK)} ${statement}`
}

/** Each takes memory in each connection; a statement that comes when so many are known is read and planned each time. */
const NAMES_MAX = 200
const VARIED_MAX = 100

/** What the prepared statements of a pool are called on its connections. */
export class PreparedNames {
  readonly #names = new Map<string, string>()
  #varied = 0

  /** Undefined for a statement that is not to be prepared. */
  nameOf(statement: string): string | undefined {
    const isVaried = statement.startsWith(VARIED_MARK)
    if (!isVaried && !statement.startsWith(MARK)) return undefined
    return this.#names.get(statement) ?? this.#newName(statement, isVaried)
  }

  #newName(statement: string, isVaried: boolean): string | undefined {
    if (this.#names.size >= NAMES_MAX || (isVaried && this.#varied >= VARIED_MAX)) return undefined
    const name = `parley_${this.#names.size + 1}`
    this.#names.set(statement, name)
    if (isVaried) this.#varied += 1
    return name
  }
}
