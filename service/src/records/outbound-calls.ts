import { enqueue } from '../delivery/enqueue.ts'
import type { Tx } from '../platform/db/schema.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { enterCall, leaveCall } from './call-directory-store.ts'
import { showCallLog } from './call-log-shape.ts'
import { type CallLogRow, insertCallLog, updateCallLog } from './call-log-store.ts'
import { isOver } from './call-status.ts'
import { lockRecord } from './call-store.ts'
import { type NewCall, newRecord } from './sessions.ts'
import { deleteVoiceSession, insertVoiceSession } from './voice-session-store.ts'

/** A call that is to be placed: it has no id of a carrier's yet. */
export type QueuedCall = Omit<NewCall, 'callSid' | 'direction'> & {
  callbackTaskId: string | null
  campaignId?: string | null
}

/** Why a call was not placed, or why that is not known: a code of ours, and a reason for people, null where there is none. */
export type SubmissionFault = { code: string; reason: string | null }

const MENDED_BY_TIME = new Set(['carrier_busy', 'carrier_unreachable', 'carrier_credentials'])

/**
 * Whether a call that failed with this code was never placed, and the same one may be another time: its carrier was busy, could not be
 * reached, or refused the account. Nobody was rung, so it counts for no attempt.
 */
export function isMendedByTime(code: string | null): boolean {
  return code !== null && MENDED_BY_TIME.has(code)
}

/** Writes down that a call is to be placed, in its log alone: its session begins when the carrier has taken it. */
export async function queueCall(tx: Tx, tenant: TenantRuntime, call: QueuedCall, now: Date): Promise<CallLogRow> {
  const { callbackTaskId, campaignId = null, ...known } = call
  const { log } = newRecord(tenant, { ...known, callSid: '', direction: 'outbound' }, now)
  const unplaced = { call_sid: null, voice_session_id: null, status: 'queued' as const, started_at: null }
  const queued: CallLogRow = { ...log, ...unplaced, callback_task_id: callbackTaskId, campaign_id: campaignId }
  await insertCallLog(tx, tenant.tenant_id, queued)
  return queued
}

/**
 * The carrier has taken a queued call: it gets its id, its place in the directory and its session. One that was given up
 * is queued again. To be called by whoever has the only right to it. `lookAt`: when its carrier is asked for it; five minutes
 * from now if not given.
 *
 * @returns the log; null when another call has this id.
 */
export async function placedCall(
  tx: Tx,
  tenant: TenantRuntime,
  log: CallLogRow,
  { callSid, lookAt }: { callSid: string; lookAt?: Date },
): Promise<CallLogRow | null> {
  const { session } = newRecord(tenant, callOf(log, callSid), log.created_at)
  const entry = { call_sid: callSid, session_id: session.id, ...(lookAt && { look_at: lookAt }) }
  const entered = await enterCall(tx, tenant.tenant_id, entry)
  if (!entered) return null
  const placed = {
    ...{ call_sid: callSid, voice_session_id: session.id, error_code: null, error_message: null },
    ...{ status: 'queued' as const, status_at: log.created_at, ended_at: null },
  }
  await insertVoiceSession(tx, tenant.tenant_id, { ...session, call_status: 'queued' })
  await updateCallLog(tx, tenant.tenant_id, log.id, placed)
  return { ...log, ...placed }
}

/**
 * The carrier's call was not that of this log: what was entered of it goes, and it is not known again what became of the
 * queued one. To be called by whoever has the only right to it.
 *
 * @returns the log; null when somebody has talked in that call, or it is over: then it stays as it is.
 */
export async function unplacedCall(tx: Tx, tenant: TenantRuntime, callSid: string): Promise<CallLogRow | null> {
  const { tenant_id: tenantId } = tenant
  const record = (await lockRecord(tx, tenantId, callSid))?.before
  if (!record || isOver(record.log.status) || record.session.started_at !== null || record.session.ended_at !== null)
    return null
  const { log, session } = record
  await leaveCall(tx, tenantId, callSid)
  await deleteVoiceSession(tx, tenantId, session.id)
  const unplaced = {
    ...{ call_sid: null, voice_session_id: null, status: 'queued' as const, status_at: log.created_at },
    ...{ answered_at: null, answered_by: null, answered_by_source: null, duration_seconds: null },
  }
  await updateCallLog(tx, tenantId, log.id, unplaced)
  return doubtedCall(tx, tenant, { ...log, ...unplaced })
}

function callOf(log: CallLogRow, callSid: string): NewCall {
  const { agent_key: agentKey, agent_name: agentName, agent_version_id: versionId, version_number: versionNumber } = log
  return {
    callSid,
    direction: 'outbound',
    from: log.from,
    to: log.to,
    orgId: log.org_id,
    agent: { agentKey, agentName: agentName ?? '', versionId, versionNumber },
    metadata: log.metadata,
  }
}

/** It is not known whether the carrier has taken the call: it stays queued, and says so. */
export async function doubtedCall(tx: Tx, tenant: TenantRuntime, log: CallLogRow): Promise<CallLogRow> {
  const doubted = { error_code: 'submission_unknown', error_message: null }
  await updateCallLog(tx, tenant.tenant_id, log.id, doubted)
  return { ...log, ...doubted }
}

/** The carrier has not taken the call: it failed, and its tenant is told so. */
export async function failedCall(
  tx: Tx,
  tenant: TenantRuntime,
  log: CallLogRow,
  { code, reason, at }: SubmissionFault & { at: Date },
): Promise<CallLogRow> {
  const endedAt = at >= log.created_at ? at : log.created_at
  const ended = { status: 'failed' as const, status_at: endedAt, ended_at: endedAt }
  const failed = { ...log, ...ended, error_code: code, error_message: reason }
  await updateCallLog(tx, tenant.tenant_id, log.id, { ...ended, error_code: code, error_message: reason })
  const payload = { call_log: showCallLog(failed) }
  await enqueue(tx, tenant, [{ event: 'voice.call.failed', subject: null, payload }], at)
  return failed
}
