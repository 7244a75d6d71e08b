import { sql } from 'kysely'
import { AppError } from '../../kernel/errors.ts'
import type { Log } from '../log.ts'
import type { Db } from './schema.ts'

/**
 * Whether a database holds whatever anybody says: with another encoding it refuses what that has no letters for, or counts and cuts by
 * bytes. One that is in use already is only told of in the log.
 *
 * @throws AppError `unavailable`, with a sentence for the operator, of a new one.
 */
export async function expectUnicode(db: Db, log: Pick<Log, 'warn'>): Promise<void> {
  const { rows } = await sql<{ encoding: string; is_new: boolean }>`
    select current_setting('server_encoding') as encoding, to_regclass('schema_migrations') is null as is_new`.execute(
    db,
  )
  const { encoding, is_new: isNew } = rows[0] ?? { encoding: 'UTF8', is_new: false }
  if (encoding === 'UTF8') return
  if (isNew) {
    throw new AppError(
      'unavailable',
      `The database of DATABASE_URL has the encoding ${encoding}, which cannot hold all that is said. ` +
        `Make one with UTF8, as by \`createdb -T template0 -E UTF8\`.`,
    )
  }
  log.warn({ encoding }, 'the database is not in UTF8: what its encoding cannot hold is refused, or cut amid a letter')
}
