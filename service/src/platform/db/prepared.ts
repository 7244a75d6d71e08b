import { type RawBuilder, sql } from 'kysely'

/** What prepared statements are for: `call`, to enter and lock one; `change`, to change one; `search`, to look for words. */
export type PreparedKind = 'call' | 'change' | 'search'

const MARK = /^\/\* prepared: (\w+) \*\//

/**
 * A statement that PostgreSQL reads and plans once for each connection, and not each time: for those that every call needs, or whose
 * planning takes long, and that are best done in one way whatever their values are. (Not each can be: one whose `on conflict` has a value in
 * its condition has a plan for known values only.) The text must not vary with these.
 */
export function prepared<Row>(kind: PreparedKind, statement: RawBuilder<Row>): RawBuilder<Row> {
  return sql<Row>`${sql.raw(`/* prepared: ${kind} */`)} ${statement}`
}

/** Whether it is one of those. */
export function isPrepared(statement: string): boolean {
  return MARK.test(statement)
}

/**
 * Each takes memory in each connection. Of one kind no more are prepared; others are read and planned each time. So those whose texts vary
 * leave room for those that do not.
 */
const KIND_MAX = 60

/** What the prepared statements of a pool are called on its connections. */
export class PreparedNames {
  readonly #names = new Map<string, string>()
  readonly #counts = new Map<string, number>()

  /** Undefined for a statement that is not to be prepared. */
  nameOf(statement: string): string | undefined {
    const kind = MARK.exec(statement)?.[1]
    return kind === undefined ? undefined : (this.#names.get(statement) ?? this.#newName(statement, kind))
  }

  #newName(statement: string, kind: string): string | undefined {
    const count = this.#counts.get(kind) ?? 0
    if (count >= KIND_MAX) return undefined
    const name = `parley_${kind}_${count + 1}`
    this.#names.set(statement, name)
    this.#counts.set(kind, count + 1)
    return name
  }
}
