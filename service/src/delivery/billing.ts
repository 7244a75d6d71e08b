import { newId } from '../kernel/ids.ts'
import type { Tx } from '../platform/db/schema.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { EventSubject } from './enqueue.ts'
import { insertBillingRow } from './outbox-store.ts'

/**
 * Writes down what a call cost, for the operator's billing, in the envelope of an event. Pass the transaction that ended the
 * call; a call that has its outcome keeps the first one.
 */
export async function enqueueBilling(
  tx: Tx,
  tenant: TenantRuntime,
  { subject, outcome }: { subject: EventSubject; outcome: Record<string, unknown> },
  now: Date,
): Promise<void> {
  const { callSid, sessionId } = subject
  const envelope = {
    event: 'billing.outcome' as const,
    tenant_id: tenant.tenant_id,
    call_sid: callSid,
    voice_session_id: sessionId,
    created_at: now.toISOString(),
    payload: { outcome },
  }
  await insertBillingRow(tx, tenant.tenant_id, { id: newId<string>(now.getTime()), callSid, createdAt: now, envelope })
}
