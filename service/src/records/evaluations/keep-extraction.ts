import { redactorFor } from '../../kernel/redaction/redact.ts'
import type { Tx } from '../../platform/db/schema.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { type CallRecord, type ExtractionOutcome, withExtraction, withTold } from '../call-record.ts'
import { lockRecord } from '../call-store.ts'
import { changeCall } from '../change-call.ts'

type Of = { tenant: TenantRuntime; callSid: string; now: Date }

/** Writes down what was taken from a conversation, or why nothing was; its end is told with that, if it waited for it. */
export function keepExtraction(tx: Tx, of: Of, outcome: ExtractionOutcome): Promise<void> {
  const kept = redactorFor(of.tenant.compliance.redact_pii).value(outcome)
  return changeIn(tx, of, (record) => withExtraction(record, kept))
}

/** Tells the end of a session that waited for its extraction; again, it changes nothing. */
export function tellHeldCompletion(tx: Tx, of: Of): Promise<void> {
  return changeIn(tx, of, withTold)
}

async function changeIn(tx: Tx, { tenant, callSid, now }: Of, change: (record: CallRecord) => CallRecord) {
  const locked = await lockRecord(tx, tenant.tenant_id, callSid)
  if (locked) await changeCall(tx, tenant, { ...locked, change, now })
}
