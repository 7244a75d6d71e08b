import type { EventSubject } from '../delivery/enqueue.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'

/** The call that what happens to a task is told of; null when the tenant has no such call. */
export async function findSubject(db: Db, tenantId: TenantId, callSid: string | null): Promise<EventSubject | null> {
  if (callSid === null) return null
  const row = await db
    .selectFrom('call_directory')
    .select('session_id')
    .where('tenant_id', '=', tenantId)
    .where('call_sid', '=', callSid)
    .executeTakeFirst()
  return row ? { callSid, sessionId: row.session_id } : null
}

/** The call that has the stream; null when the tenant has none that goes on. */
export async function findCallOfStream(db: Db, tenantId: TenantId, streamSid: string | null): Promise<string | null> {
  if (streamSid === null) return null
  const row = await db
    .selectFrom('voice_sessions')
    .select('call_sid')
    .where('tenant_id', '=', tenantId)
    .where('stream_sid', '=', streamSid)
    .where('ended_at', 'is', null)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.call_sid ?? null
}
