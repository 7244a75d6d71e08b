import { PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { systemClock, withTimeout } from '../../kernel/clock.ts'
import { CommitTellingDb } from './commits.ts'
import { setUp } from './connection-settings.ts'
import { FullDisk } from './full-disk.ts'
import { LostAnswers } from './lost-answers.ts'
import { ping, pingPrimary } from './ping.ts'
import { ReadOnlyConnections } from './read-only-connections.ts'
import { ReadShare } from './read-share.ts'
import type { Database, Db } from './schema.ts'
import { serverPool } from './server-pool.ts'
import { parserOf } from './values.ts'

type ServerOptions = {
  /** `postgres://user:password@host:port/database`. */
  url: string
  /** Shown by the server in `pg_stat_activity`. */
  applicationName: string
  /** 10 if not given, and two more for what is vital. */
  maxConnections?: number
  /**
   * The server ends a statement that runs longer, which is `unavailable` then; 30 s if not given, 0 for no limit, as a migration may need.
   * Two thirds of it may be the wait for what somebody else has locked.
   */
  statementTimeoutMs?: number
  /** Told when the server drops a connection that nobody was using. The next query gets a new one. */
  onError?: (error: Error) => void
}

const CONNECT_TIMEOUT_MS = 5_000
const MAX_CONNECTIONS = 10
/** As many of them may be had by who only looks at something, rounded up: calls, and all that changes, may have each. */
const READ_SHARE = 0.7
/** One for the heartbeat, and one for who judges those of others. */
const VITAL_CONNECTIONS = 2
/** What is said later was not said in time. */
const VITAL_TIMEOUT_MS = 5_000
const STATEMENT_TIMEOUT_MS = 30_000
const KEEP_ALIVE_AFTER_MS = 10_000
/** How much longer than the server we wait for its answer, before we take it for gone. */
const GRACE_MS = 2_000
const CLOSE_TIMEOUT_MS = 5_000

/**
 * Opens a pool of connections to a PostgreSQL server, and a small one beside it (`vital`). Connects at the first query, so a server that is away shows itself
 * as AppError `unavailable` there, not here.
 */
export function openServer(options: ServerOptions): Database {
  const disk = new FullDisk()
  const told = { disk, readOnly: new ReadOnlyConnections<pg.PoolClient>() }
  const { db, end } = openPool(options, told)
  const vitalOptions = { ...options, maxConnections: VITAL_CONNECTIONS, statementTimeoutMs: VITAL_TIMEOUT_MS }
  const vital = openPool(vitalOptions, told)
  let closing: Promise<void> | undefined
  return {
    db,
    vital: vital.db,
    kind: 'server',
    isIdle: () => true,
    ping: (timeoutMs) => ping(db, timeoutMs),
    pingPrimary: (timeoutMs) => pingPrimary({ db, disk }, timeoutMs),
    expectRoom: () => disk.expectRoom(db),
    withoutLimit: (work) => onOwnConnection(options, work),
    close() {
      closing ??= Promise.all([end(), vital.end()]).then(() => undefined)
      return closing
    },
  }
}

type Told = { disk: FullDisk; readOnly: ReadOnlyConnections<pg.PoolClient> }

function openPool(options: ServerOptions, told: Told): { db: CommitTellingDb; end(): Promise<void> } {
  const config = poolConfig(options)
  const pool = new pg.Pool(config)
  const lost = new LostAnswers(config)
  const clients = handleLosses(pool, options.onError ?? (() => undefined))
  const connections = Math.ceil((options.maxConnections ?? MAX_CONNECTIONS) * READ_SHARE)
  const readers = new ReadShare({ connections, withinMs: CONNECT_TIMEOUT_MS })
  const dialect = new PostgresDialect({
    pool: serverPool(pool, { answerMs: answerMs(options), lost, readers, ...told }),
  })
  return {
    db: new CommitTellingDb({ dialect }),
    async end() {
      await endPool(pool, clients)
      await lost.close()
    },
  }
}

/** How soon the server gives up a statement without a limit whose client is gone: nothing else ends what a killed process has begun, nor lets go of its locks. */
const NOTICE_GONE = sql`set client_connection_check_interval = '1s'`

/** On a connection of its own: a limit is the connection's. */
async function onOwnConnection<T>(options: ServerOptions, work: (db: Db) => Promise<T>): Promise<T> {
  const applicationName = `${options.applicationName} migrations`
  const own = openServer({ ...options, applicationName, maxConnections: 1, statementTimeoutMs: 0 })
  try {
    // Not every server's system can look.
    await NOTICE_GONE.execute(own.db).catch(() => undefined)
    return await work(own.db)
  } finally {
    await own.close()
  }
}

function poolConfig(options: ServerOptions): pg.PoolConfig {
  const { applicationName, maxConnections = MAX_CONNECTIONS, statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options
  return {
    connectionString: options.url,
    application_name: applicationName,
    max: maxConnections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // oxlint-disable-next-line typescript/no-misused-promises -- its types do not tell that the pool waits for it, and fails with it
    onConnect: (client) => setUp(client, { statementTimeoutMs }, CONNECT_TIMEOUT_MS),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    types: { getTypeParser: parserOf },
  }
}

/** How long we wait for an answer. */
function answerMs({ statementTimeoutMs = STATEMENT_TIMEOUT_MS }: ServerOptions): number {
  return statementTimeoutMs === 0 ? 0 : statementTimeoutMs + GRACE_MS
}

/**
 * Whoever uses a connection that breaks learns it from the query. Without these listeners the break itself, of an idle
 * connection or between two statements of a transaction, would end the process.
 *
 * @returns the open connections, kept up to date.
 */
function handleLosses(pool: pg.Pool, onError: (error: Error) => void): Set<pg.PoolClient> {
  const clients = new Set<pg.PoolClient>()
  pool.on('error', onError)
  pool.on('remove', (client) => clients.delete(client))
  pool.on('connect', (client) => {
    clients.add(client)
    client.on('error', () => undefined)
  })
  return clients
}

/** Waits for whoever holds a connection, but not for ever: then it is ended under them, and the server rolls back. */
async function endPool(pool: pg.Pool, clients: Set<pg.PoolClient>): Promise<void> {
  const stuck = () => new Error('connections are still held')
  try {
    await withTimeout(systemClock, pool.end(), CLOSE_TIMEOUT_MS, stuck)
  } catch {
    await Promise.all([...clients].map((client) => client.end()))
  }
}
