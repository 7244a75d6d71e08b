import type { Clock } from './kernel/clock.ts'
import { AppError } from './kernel/errors.ts'
import { expectUnicode } from './platform/db/encoding.ts'
import { answerIn, isLoginRefused, isReadOnly, isUnavailable, mayNotChangeSchema } from './platform/db/errors.ts'
import { migrate } from './platform/db/migrate.ts'
import { MIGRATION_STEPS } from './platform/db/migration-steps.ts'
import { areConnectionsShared } from './platform/db/pooled.ts'
import type { Database } from './platform/db/schema.ts'
import type { Log } from './platform/log.ts'

const MIGRATIONS = new URL('../migrations/', import.meta.url)

/** How long a start waits for a database server that is not up yet, as when both were started together. */
const DATABASE_WAIT_MS = 30_000
const DATABASE_RETRY_MS = 500

/**
 * Waits for the database, and brings its schema up to date.
 *
 * @throws AppError `unavailable` with a sentence for the operator when it cannot be had, or not be used.
 */
export async function makeReady(database: Database, clock: Clock, log: Log): Promise<void> {
  await waitFor(database, clock, log)
  await expectUnicode(database.db, log)
  try {
    // A migration, or the wait for another node's, may take longer than a query.
    await database.withoutLimit((db) => migrate(db, MIGRATIONS, log, { steps: MIGRATION_STEPS }))
  } catch (error) {
    throw mayNotChangeSchema(error) ? withoutRights(error) : error
  }
  // Last: its second connection would be missing to who has few of them.
  await warnOfPooler(database, log)
}

/** Of advice alone no start fails: where the question cannot be asked, nothing is said. */
async function warnOfPooler({ kind, db }: Database, log: Log): Promise<void> {
  if (kind !== 'server') return
  const isShared = await areConnectionsShared(db).catch((error: unknown) => {
    if (isUnavailable(error)) return false
    throw error
  })
  if (!isShared) return
  log.warn(
    {},
    'a pooler before the database shares its connections out by the transaction: have it give each of ours one of its own',
  )
}

function withoutRights(cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  const sentence = `The role of DATABASE_URL may not change the schema: ${reason}. Make it the owner of the database, or of a schema in its search_path.`
  return new AppError('unavailable', sentence, { cause })
}

/** Whether it may still come: what answers with a refusal (of the password, of the name) will refuse the next time too. */
function isAway(err: unknown): boolean {
  return err instanceof AppError && err.code === 'unavailable' && !isLoginRefused(err)
}

function refused(err: unknown): AppError {
  const cause = err instanceof AppError ? err.cause : err
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new AppError(
    'unavailable',
    `The database of DATABASE_URL refuses this service: ${reason}. Mend the address.`,
    {
      cause,
    },
  )
}

function tooLate(cause: unknown): AppError {
  const answer = answerIn(cause)
  const refusal =
    answer === null
      ? 'does not answer. Start it, or mend the address.'
      : `answers: ${answer}. Mend that, or the address.`
  const sentence = isReadOnly(cause) ? 'can only be read. Make it the primary, or name that one.' : refusal
  return new AppError('unavailable', `The database of DATABASE_URL ${sentence}`, { cause })
}

async function waitFor(database: Database, clock: Clock, log: Log): Promise<void> {
  const deadlineMs = clock.monotonicMs() + DATABASE_WAIT_MS
  for (;;) {
    const err = await database.pingPrimary(DATABASE_RETRY_MS * 4).then(
      () => null,
      (error: unknown) => error,
    )
    if (err === null) return
    if (!isAway(err)) throw refused(err)
    if (clock.monotonicMs() > deadlineMs) {
      throw tooLate(err)
    }
    log.warn({ err }, 'waiting for the database')
    await new Promise<void>((resolve) => clock.after(DATABASE_RETRY_MS, resolve))
  }
}
