import { sql } from 'kysely'
import type { Tx } from './schema.ts'

/** Hardly anybody holds a row for so long. */
const WAIT_MS = 1_000

/**
 * For who works for all tenants, one after the other, and comes again: whatever this transaction locks from here on it has within a
 * second, or is `unavailable`. Else one tenant whose rows are held, as by a long deletion, would hold up all others.
 */
export async function waitBriefly(tx: Tx): Promise<void> {
  await sql`select set_config('lock_timeout', ${String(WAIT_MS)}, true)`.execute(tx)
}
