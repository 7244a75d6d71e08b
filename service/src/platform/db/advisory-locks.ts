import { type RawBuilder, sql } from 'kysely'
import type { Tx } from './schema.ts'

/**
 * Tells the locks of one subject from those of all others. A number never changes: nodes of two versions serve side by side while
 * one takes over from the other.
 */
const CLASSES = {
  tenant: 7_465_001,
  installationMark: 7_465_002,
  beginningCalls: 7_465_003,
  prompt: 7_465_004,
  simulationRuns: 7_465_041,
  newSimulations: 7_465_044,
  calledNumber: 7_465_097,
  countedHour: 0x726f6c6c,
  /** The triggers that note days have it as 1684109683. */
  countedDays: 0x64617973,
} as const

/** Whose lock it is. */
export type LockClass = keyof typeof CLASSES

/**
 * Waits until nobody else has the lock; the transaction has it until it ends. Two keys may share a lock: then one waits without
 * need. `key` null: there is one for all.
 */
export async function takeLock(tx: Tx, subject: LockClass, key: string | null): Promise<void> {
  await sql`select pg_advisory_xact_lock(${lockOf(subject, key)})`.execute(tx)
}

/** The same without waiting; false when somebody else has it. */
export async function tryLock(tx: Tx, subject: LockClass, key: string): Promise<boolean> {
  const { rows } = await sql<{ is_ours: boolean }>`
    select pg_try_advisory_xact_lock(${lockOf(subject, key)}) as is_ours`.execute(tx)
  return rows[0]?.is_ours === true
}

/** What PostgreSQL's functions of advisory locks take, for a statement that does more than that. */
export function lockOf(subject: LockClass, key: string | null): RawBuilder<unknown> {
  return key === null ? sql`${sql.lit(CLASSES[subject])}, 0` : sql`${sql.lit(CLASSES[subject])}, hashtext(${key})`
}
