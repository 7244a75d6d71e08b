import { sql } from 'kysely'
import type { Db } from './platform/db/schema.ts'

/** A table in which something is, or was. `rows` is what the last vacuum counted, less than 0 before the first one. */
export type VacuumedTable = { name: string; bytes: number; rows: number }

/** All tables, PostgreSQL's own among them, the smallest first; `bytes` is with their indexes. */
export async function listTables(db: Db): Promise<VacuumedTable[]> {
  const { rows } = await sql<VacuumedTable>`
    select oid::regclass::text as name, pg_total_relation_size(oid)::double precision as bytes,
           reltuples::double precision as rows
      from pg_class
     where relkind = 'r' and pg_relation_size(oid) > 0
     order by bytes, name`.execute(db)
  return rows
}

/** Enters the room of what was deleted or changed where what comes next finds it. Not to be called in a transaction. */
export async function vacuumTable(db: Db, { name }: VacuumedTable): Promise<void> {
  await sql`vacuum ${sql.raw(name)}`.execute(db)
}

/** Counts what stands in a table, so that plans are made for it. */
export async function analyzeTable(db: Db, { name }: VacuumedTable): Promise<void> {
  await sql`analyze ${sql.raw(name)}`.execute(db)
}
