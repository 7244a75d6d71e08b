import { enqueueBilling } from '../delivery/billing.ts'
import { enqueue } from '../delivery/enqueue.ts'
import type { Tx } from '../platform/db/schema.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { billingOutcome } from './billing-outcome.ts'
import { tellChange } from './call-events.ts'
import { type CallRecord, isComplete } from './call-record.ts'
import { type LockedCall, updateRecord } from './call-store.ts'
import { insertScoring } from './evaluations/scoring-store.ts'
import { nextLook } from './open-call-store.ts'
import { wantsExtraction } from './wanted-extraction-store.ts'

/** The call as this transaction has locked it. */
type Change = LockedCall & {
  /** Pure. */
  change: (record: CallRecord) => CallRecord
  now: Date
}

/**
 * Changes a call and writes down, in the same transaction, what its tenant is to be told of that, and when to look after it
 * again. All that happens to a call goes through here, so an event can neither be forgotten nor sent without its cause.
 *
 * @returns the call as it is now.
 */
export async function changeCall(
  tx: Tx,
  tenant: TenantRuntime,
  { call, before, change, now }: Change,
): Promise<CallRecord> {
  const after = await withoutConversation(tx, before, change(before))
  const [log, session] = [changes(before.log, after.log), changes(before.session, after.session)]
  await updateRecord(tx, before, { log, session, look: nextLook(before, after, now) })
  await haveScored(tx, before, after, now)
  await enqueue(tx, tenant, await tellChange(tx, tenant, before, after), now)
  if (!isComplete(before) && isComplete(after)) {
    const subject = { callSid: call.call_sid, sessionId: after.session.id }
    await enqueueBilling(tx, tenant, { subject, outcome: billingOutcome(after, now) }, now)
  }
  return after
}

/** A session that has ended and never began: there is nothing that its version's extraction could be taken from. */
async function withoutConversation(tx: Tx, before: CallRecord, after: CallRecord): Promise<CallRecord> {
  const { tenant_id, agent_version_id: versionId, started_at, ended_at, extraction_status, qa_reason } = after.session
  const hasJustEnded = before.session.ended_at === null && ended_at !== null
  if (!hasJustEnded || started_at !== null || extraction_status !== null || versionId === null) return after
  if (!(await wantsExtraction(tx, tenant_id, versionId))) return after
  const missing = { extraction_status: 'missing' as const, extraction_reason: qa_reason }
  return { log: after.log, session: { ...after.session, ...missing } }
}

/** What a process that is gone has not stored yet may still come: from the files of its journal. */
const LATE_TURNS_MS = 300_000

/** A session that has come to its end is to be scored. */
async function haveScored(tx: Tx, before: CallRecord, { session }: CallRecord, now: Date): Promise<void> {
  if (session.qa_status !== 'pending' || before.session.qa_status === 'pending') return
  const waitMs = session.end_reason === 'process_lost' ? LATE_TURNS_MS : 0
  const dueAt = new Date(now.getTime() + waitMs)
  await insertScoring(tx, session.tenant_id, { sessionId: session.id, endedAt: session.ended_at ?? now, dueAt })
}

/** The members of `after` that differ, null when none does. What was left alone is the same object, or the same instant. */
function changes<Row extends object>(before: Row, after: Row): Partial<Row> | null {
  const changed = Object.entries(after).filter(
    ([name, value]) => value !== undefined && !isSame(before[name as keyof Row], value),
  )
  return changed.length === 0 ? null : (Object.fromEntries(changed) as Partial<Row>)
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || (a instanceof Date && b instanceof Date && a.getTime() === b.getTime())
}
