import type { Kysely, Transaction } from 'kysely'

/**
 * The tables that the code knows. Each store declares its own beside its queries:
 * `declare module '../platform/db/schema.ts' { interface Schema { agents: AgentRow } }`.
 */
export interface Schema {
  schema_migrations: { name: string; checksum: string; applied_at: Date }
}

/** A handle on the database: the pool, or one transaction. A store does all its SQL on the handle that it was given. */
export type Db = Kysely<Schema>

/** One transaction: what is asked for in this type must commit together with something else. */
export type Tx = Transaction<Schema>

/** An open database and what its owner can do with it. */
export type Database = {
  db: Db
  /**
   * The same over connections that nothing else takes, for the few short statements by which nodes know of each other: to wait
   * behind requests would make a node that lives a silent one. The embedded database has one connection for all.
   */
  vital: Db
  /**
   * `embedded`: PostgreSQL inside this process, one process per folder. `server`: a PostgreSQL server, shared by nodes.
   * `memory`: inside this process too, and gone with it.
   */
  kind: 'embedded' | 'server' | 'memory'
  /** Whether nobody asks it anything at this moment, nor waits to. Always true of a server, where others are not held up. */
  isIdle(): boolean
  /** Resolves when the database answers. @throws AppError `unavailable` when it does not within `timeoutMs`. */
  ping(timeoutMs: number): Promise<void>
  /** Resolves when it answers that it takes changes. @throws AppError `unavailable` when it takes none, or does not answer in time. */
  pingPrimary(timeoutMs: number): Promise<void>
  /**
   * Asks nothing, unless something was refused for want of room: then it tries whether there is some again.
   * @throws AppError `unavailable` when there is none.
   */
  expectRoom(): Promise<void>
  /** Does work whose statements may take as long as they need, as a migration's do; to be asked while nobody else asks anything. */
  withoutLimit<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** Waits for running queries, then closes. Calling it again changes nothing. */
  close(): Promise<void>
}
