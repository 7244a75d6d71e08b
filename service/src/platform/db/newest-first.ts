import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import { foreignCursor, type PagePosition, type PageRequest } from '../../kernel/pages.ts'

/** UUIDs as we write them. PostgreSQL reads more forms than this one and fails on any other text. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Whether `text` can be compared with a uuid column. An id that cannot is the id of nothing. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}

/**
 * A page of a list, newest first, ties by id; one row more than its `limit`, to tell whether there are more. To be given to a query's
 * `$call`.
 *
 * @param table has the columns `created_at` and `id`, a uuid.
 * @throws AppError `invalid_request` for the cursor of another kind of list.
 */
export function newestFirst(table: string, page: PageRequest) {
  return <DB, TB extends keyof DB, Row>(query: SelectQueryBuilder<DB, TB, Row>): SelectQueryBuilder<DB, TB, Row> =>
    query
      .where(isAfter(table, page.after))
      .orderBy(sql.ref(`${table}.created_at`), 'desc')
      .orderBy(sql.ref(`${table}.id`), 'desc')
      .limit(page.limit + 1)
      .offset(page.offset)
}

/**
 * The rows of a list that is sorted newest first, ties by id, which come after `after`; all of them when it is null. The
 * table's index on (created_at desc, id desc) makes every page cost what the first one costs.
 *
 * @param table has the columns `created_at` and `id`, a uuid.
 * @throws AppError `invalid_request` for the cursor of another kind of list.
 */
export function isAfter(table: string, after: PagePosition | null): Expression<SqlBool> {
  return isBeyond([table, 'created_at', '<'], after)
}

/** The same of a list that is sorted by another instant, `column`, the earliest first: the position names that one. */
export function isLater(table: string, column: string, after: PagePosition | null): Expression<SqlBool> {
  return isBeyond([table, column, '>'], after)
}

function isBeyond([table, column, way]: [string, string, '<' | '>'], after: PagePosition | null): Expression<SqlBool> {
  if (after === null) return sql<SqlBool>`true`
  if (!isUuid(after.id)) throw foreignCursor()
  const [instant, id] = [sql.ref(`${table}.${column}`), sql.ref(`${table}.id`)]
  return sql<SqlBool>`(${instant}, ${id}) ${sql.raw(way)} (${after.createdAt}, ${after.id})`
}
