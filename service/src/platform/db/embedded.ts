import { PostgresDialect } from 'kysely'
import { CommitTellingDb } from './commits.ts'
import { embeddedPool } from './embedded-pool.ts'
import { FullDisk } from './full-disk.ts'
import { PgliteThreads } from './pglite-threads.ts'
import { ping, pingPrimary } from './ping.ts'
import type { Database } from './schema.ts'

type EmbeddedOptions = {
  /** Made with mode 0700 if it is not there. PostgreSQL's data goes to `<folder>/postgres`. Null: in memory, for this process. */
  folder: string | null
  /** Of this process: whoever finds the folder in use is told it. */
  pid: number
  /** A statement that runs longer ends the database's thread, as nothing else stops it; 60 s if not given. */
  statementTimeoutMs?: number
  /**
   * Told when the database's thread ends by itself, and when it cannot be started again: every query is `unavailable` meanwhile.
   * In memory it is not started again.
   */
  onError?: (error: Error) => void
  /** Told when it answers again, with all that was committed. */
  onBack?: () => void
}

const STATEMENT_TIMEOUT_MS = 60_000

/**
 * Opens PostgreSQL inside this process, in a thread of its own, with its data in a folder that nobody else may use
 * meanwhile. Survives the death of the process with every committed row, but not the loss of power: it never calls fsync.
 * Without a folder nothing survives.
 *
 * @throws AppError `unavailable`, with a message for the operator, when the folder is in use, cannot be written, or holds the
 * data of another major version of PostgreSQL.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Database> {
  const { folder, pid, statementTimeoutMs = STATEMENT_TIMEOUT_MS, onError = () => {}, onBack = () => {} } = options
  const threads = await PgliteThreads.start({ folder, pid, statementTimeoutMs, onError, onBack })
  const disk = new FullDisk()
  const pool = embeddedPool(threads, disk)
  const db = new CommitTellingDb({ dialect: new PostgresDialect({ pool }) })
  let closing: Promise<void> | undefined
  return {
    db,
    vital: db,
    kind: folder === null ? 'memory' : 'embedded',
    isIdle: () => pool.isIdle(),
    ping: (timeoutMs) => ping(db, timeoutMs),
    pingPrimary: (timeoutMs) => pingPrimary({ db, disk }, timeoutMs),
    expectRoom: () => disk.expectRoom(db),
    withoutLimit: (work) => threads.current.withoutLimit(() => work(db)),
    close() {
      closing ??= pool.end()
      return closing
    },
  }
}
