import { newId } from '../kernel/ids.ts'
import type { Tx } from '../platform/db/schema.ts'
import type { EventName } from '../tenancy/tenant-events.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { insertOutboxRows } from './outbox-store.ts'

/** The call that an event tells of. */
export type EventSubject = { callSid: string; sessionId: string }

/** Something that a tenant may want to be told: the changed thing in the shape that the API shows it in. */
export type NewEvent = { event: EventName; subject: EventSubject | null; payload: Record<string, unknown> }

/** Whether the tenant's webhook asks for the event. To be asked before a payload is made that takes queries. */
export function wantsEvent({ webhook }: TenantRuntime, event: EventName): boolean {
  return webhook !== null && !webhook.disabled && webhook.events.includes(event)
}

/**
 * Writes down the events that the tenant wants, to be delivered in their order once the transaction commits; the others
 * leave no trace, so what a tenant is told of a call is numbered without a gap.
 *
 * @returns how many that were.
 */
export async function enqueue(tx: Tx, tenant: TenantRuntime, events: NewEvent[], now: Date): Promise<number> {
  const rows = events
    .filter(({ event }) => wantsEvent(tenant, event))
    .map(({ event, subject, payload }) => ({
      id: newId<string>(now.getTime()),
      callSid: subject?.callSid ?? null,
      createdAt: now,
      envelope: {
        event,
        tenant_id: tenant.tenant_id,
        call_sid: subject?.callSid ?? '',
        voice_session_id: subject?.sessionId ?? '',
        created_at: now.toISOString(),
        payload,
      },
    }))
  await insertOutboxRows(tx, tenant.tenant_id, rows)
  return rows.length
}
