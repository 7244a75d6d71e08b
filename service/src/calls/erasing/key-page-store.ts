import { type RawBuilder, sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import type { Tx } from '../../platform/db/schema.ts'

/** A table of tenants, and the columns that name a row of one, in the order of an index behind `tenant_id`. */
export type KeyedTable = { table: string; key: string[] }

/** Rows of a tenant behind one key, up to another one that is among them. A key is null before the first row. */
export type KeyPage = { after: string[] | null; until: string[] }

/** Where the next `limit` rows behind a key end, whatever is in them; null when there are none. */
export async function endOfPage(
  tx: Tx,
  tenantId: TenantId,
  { table, key }: KeyedTable,
  { after, limit }: { after: string[] | null; limit: number },
): Promise<string[] | null> {
  const columns = key.map((name) => sql.ref(name))
  const isBehind = after === null ? sql`true` : sql`(${sql.join(columns)}) > (${sql.join(after)})`
  // Where the database has not counted the rows of a tenant, as the embedded one seldom does, it takes them for few, and would sort all that are
  // left for each page.
  await sql`select set_config('enable_sort', 'off', true)`.execute(tx)
  const last = key.map((name) => sql`${sql.ref(name)}::text`)
  const { rows } = await sql<{ key: string[] }>`
    select array[${sql.join(last)}] as key
      from (select ${sql.join(columns)} from ${sql.table(table)}
             where tenant_id = ${tenantId} and ${isBehind}
             order by ${sql.join(columns)} limit ${limit}) page
     order by ${sql.join(key.map((name) => sql`page.${sql.ref(name)} desc`))} limit 1`.execute(tx)
  return rows[0]?.key ?? null
}

/** Whether a row stands in a page; to be asked beside its tenant. */
export function isInPage({ key }: Pick<KeyedTable, 'key'>, { after, until }: KeyPage): RawBuilder<boolean> {
  const columns = sql.join(key.map((name) => sql.ref(name)))
  const isBehind = after === null ? sql<boolean>`true` : sql<boolean>`(${columns}) > (${sql.join(after)})`
  return sql<boolean>`${isBehind} and (${columns}) <= (${sql.join(until)})`
}
