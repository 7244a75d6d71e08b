import type { TenantId } from '../kernel/ids.ts'
import { redactorFor } from '../kernel/redaction/redact.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { type AgentOfCall, type CallRecord, statusReport, withReport, withSessionEnd } from '../records/call-record.ts'
import { insertCall, type LockedCall, lockRecord } from '../records/call-store.ts'
import { changeCall } from '../records/change-call.ts'
import { newRecord } from '../records/sessions.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { NOTHING_SAID } from './record-status.ts'
import { NOT_TAKEN, type Refusal } from './refusals.ts'

/** A call that came in and was not taken. `agent`: who would have talked; of one that was not looked up the key alone is known. */
export type RefusedCall = {
  callSid: string
  from: string
  to: string
  why: Refusal
  /** What the caller heard, of a call that its tenant has rejected. */
  said?: string
  agentKey: string | null
  agent: AgentOfCall | null
}

/** A refusal that is to be written down. */
export type NotedRefusal = {
  tenantId: TenantId
  call: RefusedCall
  at: Date
  /** The call was entered after its caller had been told that it is not taken. */
  isEntered: boolean
  /** Somebody else has answered it in our place. */
  isServed: boolean
}

/**
 * Writes a call down that was not taken, with its end and its events. One that is known stays as it is, but for one that was entered in
 * vain; again, it changes nothing.
 *
 * @throws AppError `unavailable` when the database does not answer.
 */
export async function writeRefusal(db: Db, tenant: TenantRuntime, noted: NotedRefusal, now: Date): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const open = (await enterIn(tx, tenant, noted)) ?? (noted.isEntered ? await unbegunIn(tx, noted) : null)
    if (open) await changeCall(tx, tenant, { ...open, now, change: (record) => ended(tenant, record, noted) })
  })
}

async function enterIn(tx: Tx, tenant: TenantRuntime, { call, at }: NotedRefusal): Promise<LockedCall | null> {
  const before = recordOf(tenant, call, at)
  const entered = await insertCall(tx, { record: before, lookAt: at })
  return entered && { call: entered, before }
}

/** Null where a stream has it, or its end is known. */
async function unbegunIn(tx: Tx, { tenantId, call }: NotedRefusal): Promise<LockedCall | null> {
  const locked = await lockRecord(tx, tenantId, call.callSid)
  if (!locked || locked.call.owner !== null) return null
  const { started_at, ended_at } = locked.before.session
  return started_at === null && ended_at === null ? locked : null
}

function recordOf(tenant: TenantRuntime, refused: RefusedCall, at: Date): CallRecord {
  const { agent, agentKey, why: _why, said: _said, ...call } = refused
  const speaker = agent ?? { agentKey, agentName: '', versionId: null, versionNumber: null }
  const known = { ...call, direction: 'inbound' as const, orgId: null, agent: speaker, metadata: {} }
  const { log, session } = newRecord(tenant, known, at)
  const agent_name = agent?.agentName ?? null
  return { log: { ...log, agent_name }, session: { ...session, agent_name } }
}

function ended(tenant: TenantRuntime, record: CallRecord, { call, at, isServed }: NotedRefusal): CallRecord {
  const { status } = NOT_TAKEN[call.why]
  const report = { ...statusReport(status, at), errorCode: call.why, errorMessage: reasonOf(tenant, call) }
  const endReason = isServed ? 'transferred' : 'rejected'
  return withSessionEnd(withReport(record, report), { ...NOTHING_SAID, endReason, at })
}

function reasonOf({ compliance }: TenantRuntime, { why, said = '' }: RefusedCall): string {
  const { reason } = NOT_TAKEN[why]
  return said === '' ? reason : `${reason} It said: ${redactorFor(compliance.redact_pii).text(said)}`
}
