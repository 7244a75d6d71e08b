import { type RawBuilder, sql } from 'kysely'
import { nextCursorOf, type PageRequest } from '../../kernel/pages.ts'
import { fitting } from './fitting-rows.ts'
import { prepared } from './prepared.ts'
import type { Db } from './schema.ts'

/** A page of a list as the database has written it: `json` is the text of an array of `count` objects. */
export type JsonPage = { json: string; count: number; nextCursor: string | null }

type Read = { json: string; count: number; last_at: Date | null; last_id: string | null; has_more: boolean }

/** What a page is made of. */
export type JsonList = {
  table: string
  /** The conditions that its rows fulfil, those on the page among them. */
  where: RawBuilder<unknown>
  /** What is shown of a row: a column of the table, or what is made of its columns, under each name. */
  shown: Readonly<Record<string, RawBuilder<unknown>>>
  /** One plan is right for whatever values `where` has: it is made once. Default: it is made for the values of each time. */
  isPrepared?: boolean
  /** Those that may be long: the page ends where they have more bytes than fit into one. */
  long: readonly string[]
}

/**
 * Reads a page, newest first, ties by id. The database writes the JSON: to read hundreds of values into a process, one by one,
 * only to write them out again, costs that process more than all else that a list costs it.
 */
export async function readJsonPage(db: Db, list: JsonList, page: PageRequest): Promise<JsonPage> {
  const { table, where, shown, isPrepared = false, long } = list
  const members = Object.entries(shown).map(([name, value]) => sql`${value} as ${sql.id(name)}`)
  const from = sql.id(table)
  const statement = sql<Read>`
    with newest as materialized (
      select *, row_number() over (order by created_at desc, id desc) as n
        from (select * from ${from} where ${where}
               order by created_at desc, id desc limit ${page.limit + 1} offset ${page.offset}) ${from}),
         ${fitting(long, page.limit)}
    select coalesce(json_agg(row_to_json(shown) order by n) filter (where n <= kept), '[]')::text as json,
           count(*) filter (where n <= kept) as count,
           max(${from}.created_at) filter (where n = kept) as last_at,
           (array_agg(${from}.id) filter (where n = kept))[1] as last_id,
           coalesce(bool_or(n > kept), false) as has_more
      from newest ${from}, fitting, lateral (select ${sql.join(members)}) shown`
  const { rows } = await (isPrepared ? prepared('search', statement) : statement).execute(db)
  const [read] = rows
  if (!read) throw new Error('an aggregate without a row')
  const { json, count, last_at: createdAt, last_id: id, has_more: hasMore } = read
  const isLast = !hasMore || createdAt === null || id === null
  return { json, count, nextCursor: isLast ? null : nextCursorOf({ createdAt, id }) }
}

/** An instant as the API writes it, such as `2026-01-31T09:05:00.000Z`. */
export function isoInstant(column: string): RawBuilder<string | null> {
  return sql`to_char(${sql.ref(column)} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}
