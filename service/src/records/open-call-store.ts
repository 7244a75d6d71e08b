import { type RawBuilder, sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import { type CallRecord, isComplete } from './call-record.ts'
import { isOver } from './call-status.ts'

/** A call that nobody has said anything of for so long is asked for. */
export const LOOK_INTERVAL_MS = 300_000
/** A call that has lost its stream, or of whose call and session one alone is over, is asked for so soon. */
export const LOST_AFTER_MS = 10_000

/**
 * When to look after a call next because of a change; `at: null` for never again, null when the change is no reason to look at
 * another time than was meant before.
 */
export function nextLook(before: CallRecord, after: CallRecord, now: Date): { at: Date | null } | null {
  if (isComplete(after)) return isComplete(before) ? null : { at: null }
  const isOverNow = isOver(after.log.status) && !isOver(before.log.status)
  // Whoever has the session writes its end within moments, if it lives.
  if (isOverNow) return { at: new Date(now.getTime() + LOST_AFTER_MS) }
  // Nobody has told that the call is over, too: its carrier may not have ended it. Whoever was put through talks on.
  const hasEnded = before.session.ended_at === null && after.session.ended_at !== null
  if (hasEnded && after.session.end_reason !== 'transferred') return { at: new Date(now.getTime() + LOST_AFTER_MS) }
  const hasBegun = after.session.stream_sid !== before.session.stream_sid
  return hasBegun ? { at: new Date(now.getTime() + LOOK_INTERVAL_MS) } : null
}

/** Says when to look after a call that is not complete; null: never again, because it is. */
export async function setLook(db: Db, tenantId: TenantId, callSid: string, at: Date | null): Promise<void> {
  await lookSet(tenantId, callSid, at).execute(db)
}

/** `setLook` as a statement, which may be part of another. */
export function lookSet(tenantId: TenantId, callSid: string, at: Date | null): RawBuilder<unknown> {
  return sql`
    update call_directory set look_at = ${at}, look_tries = 0, rescue_at = null
     where tenant_id = ${tenantId} and call_sid = ${callSid}`
}
