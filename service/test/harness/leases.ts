import { sql } from 'kysely'
import type { Copy } from './template.ts'

/**
 * The leases of what a killed process had claimed are over, by the clock of the database. Only on a server is that to be waited for: who
 * is alone on an embedded database ends them with its start.
 */
export async function endLeases(copy: Copy, table: string): Promise<void> {
  if (copy.kind === 'embedded') return
  const { db, close } = await copy.open()
  await sql`update ${sql.table(table)} set leased_until = ${new Date(0)} where leased_until is not null`.execute(db)
  await close()
}
