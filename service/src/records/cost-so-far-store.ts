import { sql } from 'kysely'
import type { Tx } from '../platform/db/schema.ts'
import type { CallRecord, SessionProgress } from './call-record.ts'
import { costOfSession } from './spent-today-store.ts'

/**
 * What is known of the cost of a session whose end somebody else has to write: its stored turns tell that. Nothing of one that never
 * began, has ended, or has no turn of a known price. To be asked with `lockRecord`, before the end is written.
 */
export async function costSoFar(
  tx: Tx,
  { session }: CallRecord,
): Promise<Pick<SessionProgress, 'costUsd' | 'isPartial'>> {
  if (session.started_at === null || session.ended_at !== null) return {}
  const { rows } = await sql<{ usd: number | null }>`
    select ${costOfSession(session.tenant_id, session.id)} as usd`.execute(tx)
  const usd = rows[0]?.usd ?? null
  // Whoever had it has stored with what it has used what that cost.
  return usd === null ? {} : { costUsd: usd, ...(session.cost_usd === null && { isPartial: true }) }
}
