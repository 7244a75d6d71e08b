import { PostgresDialect } from 'kysely'
import { CommitTellingDb } from './commits.ts'
import { embeddedPool } from './embedded-pool.ts'
import { PgliteClient } from './pglite-client.ts'
import { ping } from './ping.ts'
import type { Database } from './schema.ts'

type EmbeddedOptions = {
  /** Made with mode 0700 if it is not there. PostgreSQL's data goes to `<folder>/postgres`. Null: in memory, for this process. */
  folder: string | null
  /** Of this process: whoever finds the folder in use is told it. */
  pid: number
  /** A statement that runs longer ends the database for this process, as nothing else stops it; 60 s if not given. */
  statementTimeoutMs?: number
  /** Told once when the database's thread ends by itself; from then on every query is `unavailable`. */
  onError?: (error: Error) => void
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
  const { folder, pid, statementTimeoutMs = STATEMENT_TIMEOUT_MS, onError = () => undefined } = options
  const client = await PgliteClient.start({ folder, pid, statementTimeoutMs, onError })
  const pool = embeddedPool(client)
  const db = new CommitTellingDb({ dialect: new PostgresDialect({ pool }) })
  let closing: Promise<void> | undefined
  return {
    db,
    kind: folder === null ? 'memory' : 'embedded',
    ping: (timeoutMs) => ping(db, timeoutMs),
    withoutLimit: (work) => client.withoutLimit(() => work(db)),
    close() {
      closing ??= pool.end()
      return closing
    },
  }
}
