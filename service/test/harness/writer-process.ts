import { argv, pid, stderr, stdout } from 'node:process'
import { sql } from 'kysely'
import { openEmbedded } from '../../src/platform/db/embedded.ts'

/**
 * A program: inserts 1, 2, 3 … into the table `written` of the embedded database in the folder that it is given, and
 * prints each number after its insert was acknowledged, until it is killed. Started by `startWriter`.
 */
async function write(folder: string): Promise<void> {
  const { db } = await openEmbedded({ pid, folder })
  await sql`create table if not exists written (n int primary key)`.execute(db)
  const { rows } = await sql<{ last: number }>`select coalesce(max(n), 0) as last from written`.execute(db)
  for (let n = (rows[0]?.last ?? 0) + 1; ; n++) {
    await sql`insert into written values (${n})`.execute(db)
    stdout.write(`${n}\n`)
  }
}

try {
  await write(argv[2] ?? '')
} catch (error) {
  stderr.write(`${error instanceof Error ? error.message : error}\n`)
  throw error
}
