import type pg from 'pg'
import { systemClock, withTimeout } from '../../kernel/clock.ts'

type Limits = {
  /** 0 for none, and then none for a transaction either. */
  statementTimeoutMs: number
}

/** A statement that has waited for a lock is told from one that takes long by itself. */
const LOCK_SHARE = 2 / 3
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000

/**
 * Everything that what we read and write depends on, in place of what the server, the database or the role has by itself. Said by a
 * statement and not as the connection is opened, which poolers in between refuse or leave out.
 */
function settings({ statementTimeoutMs }: Limits): Record<string, string> {
  return {
    timezone: 'UTC',
    // How instants and days are written, which is how they are read here.
    datestyle: 'ISO, YMD',
    // How statements are written.
    standard_conforming_strings: 'on',
    // Whoever waited for a lock has to see what its holder did, and what others change meanwhile is no reason to refuse.
    default_transaction_isolation: 'read committed',
    // Our statements take milliseconds: to compile one, because its cost was guessed high, takes a second.
    jit: 'off',
    statement_timeout: String(statementTimeoutMs),
    lock_timeout: String(Math.round(statementTimeoutMs * LOCK_SHARE)),
    idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_TIMEOUT_MS),
    // Those that nobody uses are ended by the pool.
    idle_session_timeout: '0',
  }
}

/** Whoever has no limit for a statement has none for what it stands in: PostgreSQL has one since 17, which older ones do not know. */
const NO_TRANSACTION_TIMEOUT = `case when current_setting('transaction_timeout', true) is not null
  then set_config('transaction_timeout', '0', false) end`

/** A server that has let us in does not answer: another connection to it would not be answered sooner. */
export class SilentServer extends Error {
  override readonly name = 'SilentServer'
}

/** Has a new connection be as we expect them. Rejects when it cannot be had so within `withinMs`. */
export async function setUp(client: pg.ClientBase, limits: Limits, withinMs: number): Promise<void> {
  const set = Object.entries(settings(limits)).map(([name, value]) => `set_config('${name}', '${value}', false)`)
  const all = limits.statementTimeoutMs === 0 ? [...set, NO_TRANSACTION_TIMEOUT] : set
  const late = () => new SilentServer('timeout expired')
  await withTimeout(systemClock, client.query(`select ${all.join(', ')}`), withinMs, late)
}
