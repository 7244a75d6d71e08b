import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { Db } from './schema.ts'

/**
 * A page of a list ends where its rows have more bytes than so many, all together; one row it has in any case. Rows are read and
 * written on the thread that carries audio, and one of them may have hundreds of thousands.
 */
const MAX_PAGE_BYTES = 1_048_576

/** The rows of a page, one more than `limit` where there are more. */
export type FittingRows<Row> = { rows: Row[]; limit: number }

/**
 * Reads a page whose rows may be long: no more of them than fit.
 *
 * @param query asks for a page in its order, and for one row more, as `newestFirst` does.
 * @param columns those that may be long.
 * @param limit of the page.
 * @returns with how many rows the page has at most: less than its own `limit` where that many do not fit.
 */
export async function fittingRows<DB, TB extends keyof DB, Row>(
  db: Db,
  query: SelectQueryBuilder<DB, TB, Row>,
  columns: readonly string[],
  limit: number,
): Promise<FittingRows<Row>> {
  const { rows } = await sql<Row & { n: number; kept: number }>`
    with newest as materialized (select *, row_number() over () as n from ${query} page),
         ${fitting(columns, limit)}
    select newest.*, fitting.kept from newest, fitting where n <= fitting.kept + 1 order by n`.execute(db)
  return { rows: rows.map(({ n: _n, kept: _kept, ...row }) => row as Row), limit: rows[0]?.kept ?? limit }
}

/**
 * How many rows of `newest`, which numbers those of a page from 1 as `n`, have no more bytes than they may: `kept` of `fitting`, to
 * be put behind it in a `with`. What they take up in the table is less, and known without reading it: only what may fit by that is read.
 */
export function fitting(columns: readonly string[], limit: number): RawBuilder<unknown> {
  const sum = (sizeOf: (column: RawBuilder<unknown>) => RawBuilder<unknown>) =>
    sql.join(
      columns.map((column) => sql`coalesce(${sizeOf(sql.id(column))}, 0)`),
      sql` + `,
    )
  return sql`
    fitting as materialized (
      select greatest(count(*) filter (where bytes <= ${MAX_PAGE_BYTES}), least(${limit}, 1)) as kept
        from (select sum(${sum((column) => sql`octet_length(${column}::text)`)}) over (order by n) as bytes
                from (select *, sum(${sum((column) => sql`pg_column_size(${column})`)}) over (order by n) as stored
                        from newest where n <= ${limit}) sized
               where stored <= ${MAX_PAGE_BYTES}) whole)`
}
