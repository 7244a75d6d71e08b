import { sql } from 'kysely'
import { systemClock, withTimeout } from '../../kernel/clock.ts'
import { unreachable } from './errors.ts'
import type { Db } from './schema.ts'

/** Resolves when the database answers. @throws AppError `unavailable` when it does not within `timeoutMs`. */
export async function ping(db: Db, timeoutMs: number): Promise<void> {
  await withTimeout(systemClock, sql`select 1`.execute(db), timeoutMs, () => unreachable())
}
