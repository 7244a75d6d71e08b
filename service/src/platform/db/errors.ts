import pg from 'pg'
import { AppError } from '../../kernel/errors.ts'

/** lock_not_available: within the lock_timeout that was set for it. */
const LOCK_TIMEOUT = '55P03'

/** query_canceled: it ran longer than the statement_timeout, or somebody at the server ended it. */
const CANCELED = '57014'

/**
 * protocol_violation: what a pooler says of a server that it has lost, or cannot reach. PostgreSQL says it of a statement that was given
 * too few values, with the place in its own source, which no pooler has; where it is fatal the connection is gone in any case.
 */
const PROTOCOL_VIOLATION = '08P01'

/** disk_full: could not extend a file. */
const DISK_FULL = '53100'

/** read_only_sql_transaction: by a server that is not the primary any more, or not yet. */
const READ_ONLY_STATE = '25006'

/**
 * SQL states with which a server lets nobody in. Who was let in before is so again when its password, its rights or its database are
 * mended, as after a fail-over; who never was has the wrong address.
 */
const LOGIN_REFUSED = [
  '28000', // invalid_authorization_specification
  '28P01', // invalid_password
  '3D000', // invalid_catalog_name
  '57P04', // database_dropped
]

/** serialization_failure, deadlock_detected: of those that got into each other one was refused, and would not be now. */
const LOST_TO_ANOTHER = ['40001', '40P01']

/** insufficient_privilege; invalid_schema_name: there is none in which a table could be made. */
const NO_RIGHTS = ['42501', '3F000']

/** SQL states of a server that cannot serve now: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const UNREACHABLE_STATES = new Set([
  '08000', // connection_exception
  '08001', // sqlclient_unable_to_establish_sqlconnection
  '08003', // connection_does_not_exist
  '08004', // sqlserver_rejected_establishment_of_sqlconnection
  '08006', // connection_failure
  ...LOGIN_REFUSED,
  READ_ONLY_STATE,
  ...LOST_TO_ANOTHER,
  '25P03', // idle_in_transaction_session_timeout: it ends the session
  '25P04', // transaction_timeout: it ends the session
  DISK_FULL,
  '53200', // out_of_memory
  '53300', // too_many_connections
  LOCK_TIMEOUT,
  CANCELED,
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout: it ends the session
  '58030', // io_error
  '58P02', // duplicate_file: so the embedded database calls a file that it has no room for
])

const READ_ONLY = 'The database can only be read.'
const LETS_NOBODY_IN = 'The database does not let this service in.'
const OTHERS_CAME_BETWEEN = 'Something else changed the same in the database at the same time.'

/** Where it is reached and of no use, so that nobody looks for what is wrong on the way to it. */
const SENTENCES = new Map([
  [READ_ONLY_STATE, READ_ONLY],
  [DISK_FULL, 'The disk of the database is full.'],
  ['53200', 'The database has no memory left.'],
  ['53300', 'The database has no connection left.'],
  [LOCK_TIMEOUT, 'Something else in the database holds what this needs.'],
  [CANCELED, 'The database took too long over this.'],
  ...LOST_TO_ANOTHER.map((state): [string, string] => [state, OTHERS_CAME_BETWEEN]),
  ...LOGIN_REFUSED.map((state): [string, string] => [state, LETS_NOBODY_IN]),
])

/** What Node's sockets say. */
const UNREACHABLE_SOCKET = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT', // the server's Unix socket is not there
])

/** `pg` gives these no code. */
const UNREACHABLE_MESSAGE =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/

/**
 * The error as callers shall see it: a database that cannot be reached becomes AppError `unavailable`, with the error as
 * its cause; every other error is returned as it is.
 */
export function toAppError(error: unknown): unknown {
  return isUnreachable(error) ? unreachable(error) : error
}

/** What is thrown when the database does not answer, or does not do what is asked. */
export function unreachable(cause?: unknown): AppError {
  const state = cause instanceof pg.DatabaseError ? cause.code : undefined
  const sentence = SENTENCES.get(state ?? '') ?? 'The database is not reachable.'
  return new AppError('unavailable', `${sentence} Try again.`, { cause })
}

/** What is thrown when the database answers and takes no change. */
export function readOnly(): AppError {
  return new AppError('unavailable', `${READ_ONLY} Try again.`)
}

/** Whether it answers, and takes no change. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof AppError && error.message === readOnly().message
}

/** Whether a change was refused because nothing can be changed over this connection. */
export function isReadOnlyRefusal(error: unknown): boolean {
  return stateOf(error) === READ_ONLY_STATE
}

/** Whether it is an error of ours that says that the database is away. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.code === 'unavailable'
}

/** Whether the database had no room on its disk. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === DISK_FULL
}

/**
 * Whether the server let us not in, or no connection to it can be had as its address asks for, as with a certificate of another name: at
 * a start, nothing to wait for.
 */
export function isLoginRefused(error: unknown): boolean {
  const cause = error instanceof AppError ? error.cause : error
  if (cause instanceof pg.DatabaseError) return LOGIN_REFUSED.includes(cause.code ?? '') || !isOfNoServer(cause)
  return cause instanceof Error && (!isOfNoServer(cause) || ('syscall' in cause && cause.syscall === 'open'))
}

/** What a server, or a pooler before it, has answered, in its words; null where nobody did. */
export function answerIn(error: unknown): string | null {
  const cause = error instanceof AppError ? error.cause : error
  return cause instanceof pg.DatabaseError ? cause.message : null
}

/** Whether a migration failed because the role lacks a right, or has no schema. */
export function mayNotChangeSchema(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return NO_RIGHTS.includes(error.code ?? '')
  return error instanceof Error && mayNotChangeSchema(error.cause)
}

/** Whether the statement waited too long for what somebody else had locked. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === LOCK_TIMEOUT
}

/** Whether it did, or took too long by itself. */
export function isOnlyLate(error: unknown): boolean {
  return [LOCK_TIMEOUT, CANCELED].includes(stateOf(error))
}

/** Whether it was refused because others did something at the same time: it can be done again at once. */
export function isLostToAnother(error: unknown): boolean {
  return LOST_TO_ANOTHER.includes(stateOf(error))
}

/** Whether the database was there, and refused this alone: the connection is as good as before. */
export function isOfStatementAlone(error: unknown): boolean {
  return isOnlyLate(error) || isLostToAnother(error)
}

/** The SQL state, also of what `toAppError` has made of the error; empty without one. */
function stateOf(error: unknown): string {
  const cause = error instanceof AppError ? error.cause : error
  return (cause instanceof pg.DatabaseError && cause.code) || ''
}

/** What ends its connection has no answer for the statement, whatever its state says, as that of a pooler or of a later server. */
function isUnreachable(error: unknown): boolean {
  return isOfNoServer(error) || (error instanceof pg.DatabaseError && endsConnection(error))
}

/**
 * Whether the server goes on without the connection, or starts anew, which ends all of them. One that speaks another language says this in
 * other words, so what is known to do it stands above.
 */
function endsConnection({ severity }: pg.DatabaseError): boolean {
  return severity === 'FATAL' || severity === 'PANIC'
}

/** Whether it is known for what a server says that cannot serve now, or the way to one that is not there. */
function isOfNoServer(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  if (error instanceof pg.DatabaseError) {
    if (code !== PROTOCOL_VIOLATION) return UNREACHABLE_STATES.has(code)
    return error.routine === undefined || endsConnection(error)
  }
  // Node tries every address of a name and gives all the failures at once.
  if (error instanceof AggregateError) return error.errors.some(isOfNoServer)
  return UNREACHABLE_SOCKET.has(code) || UNREACHABLE_MESSAGE.test(error.message)
}

/** The name of the unique constraint or index that the statement would have broken; null for any other error. */
export function uniqueViolation(error: unknown): string | null {
  if (!(error instanceof pg.DatabaseError) || error.code !== '23505') return null
  return error.constraint ?? null
}
