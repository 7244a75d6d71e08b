import { sql } from 'kysely'
import type { Database, Db } from '../../src/platform/db/schema.ts'
import { type Copy, copyTemplate, type Template } from './template.ts'

/** A migrated database that a test file has to itself. */
export type LentDatabase = { copy: Copy; database: Database; schema: string }

/**
 * An embedded one that a file of this process has left as it got it: to start one costs more than most files do, so the next
 * file gets it.
 */
let spare: LentDatabase | null = null

/** @param isNew whether it must be one that no other file has had. */
export async function lendDatabase(template: Template, isNew: boolean): Promise<LentDatabase> {
  const lent = isNew ? null : spare
  if (lent) {
    spare = null
    return lent
  }
  const copy = await copyTemplate(template)
  const database = await copy.open()
  return { copy, database, schema: await schemaOf(database.db) }
}

/** Ends the use of a database, and the database unless another file can have it: one that is open, with the schema it had. */
export async function takeBack(lent: LentDatabase): Promise<void> {
  const { copy, database, schema } = lent
  if (database.kind === 'embedded' && spare === null && (await isAsItWas(database.db, schema))) {
    spare = lent
    return
  }
  await database.close()
  await copy.remove()
}

async function isAsItWas(db: Db, schema: string): Promise<boolean> {
  try {
    await sql`discard all`.execute(db)
    return (await schemaOf(db)) === schema
  } catch {
    return false
  }
}

/** A digest of all that a test could have made, changed or dropped beside rows. */
async function schemaOf(db: Db): Promise<string> {
  const { rows } = await sql<{ digest: string }>`
    select md5(string_agg(thing, ',' order by thing)) as digest
      from (select concat_ws(' ', oid, relname, relnatts, relchecks) from pg_class where oid >= 16384
            union all select concat_ws(' ', oid, proname, prosrc) from pg_proc where oid >= 16384
            union all select concat_ws(' ', oid, conname) from pg_constraint where oid >= 16384
            union all select concat_ws(' ', oid, tgname, tgenabled) from pg_trigger where oid >= 16384
            union all select to_jsonb(schema_migrations)::text from schema_migrations) as made (thing)`.execute(db)
  return rows[0]?.digest ?? ''
}
