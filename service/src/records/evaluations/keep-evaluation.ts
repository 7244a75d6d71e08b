import { enqueue } from '../../delivery/enqueue.ts'
import { type AgentId, newId, type TenantId } from '../../kernel/ids.ts'
import { redactorFor } from '../../kernel/redaction/redact.ts'
import type { Tx } from '../../platform/db/schema.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { lockCall } from '../call-directory-store.ts'
import { findCallLog, updateCallLog } from '../call-log-store.ts'
import { findVoiceSession, type StoredQa, updateVoiceSession, type VoiceSessionRow } from '../voice-session-store.ts'
import type { Verdict } from './assessment.ts'
import { showEvaluation } from './evaluation-shape.ts'
import {
  type EvaluationRow,
  type EvaluationSource,
  findDecisive,
  findSummary,
  HIGH_QUALITY,
  insertEvaluation,
} from './evaluation-store.ts'

/** A session that this transaction alone changes until it ends, as it is now; null when it is gone. */
export async function lockSession(
  tx: Tx,
  tenantId: TenantId,
  { id, call_sid }: Pick<VoiceSessionRow, 'id' | 'call_sid'>,
): Promise<VoiceSessionRow | null> {
  return (await lockCall(tx, tenantId, call_sid)) && findVoiceSession(tx, tenantId, id)
}

type Kept = { session: VoiceSessionRow; agentId: AgentId | null; source: EvaluationSource; verdict: Verdict; now: Date }

/**
 * Writes an evaluation down. One of a model or a person settles what the session shows as its `qa`, and its tenant is told of
 * it, in the same transaction; what the records alone say changes neither. To be called with `lockSession`.
 */
export async function keepEvaluation(
  tx: Tx,
  tenant: TenantRuntime,
  { session, agentId, source, verdict, now }: Kept,
): Promise<EvaluationRow> {
  const { id: session_id, agent_key, agent_version_id, ended_at } = session
  const evaluation: EvaluationRow = {
    ...{ tenant_id: tenant.tenant_id, id: newId<string>(now.getTime()), session_id, source, created_at: now },
    ...{ session_ended_at: ended_at ?? now, agent_id: agentId, agent_key, agent_version_id },
    ...redactorFor(tenant.compliance.redact_pii).value(verdict),
  }
  await insertEvaluation(tx, evaluation)
  if (source === 'heuristic') return evaluation
  const decisive = await findDecisive(tx, tenant.tenant_id, session_id)
  const qa = decisive && qaOf(decisive)
  // A score without words takes none away: not those of the model, which may also come later, nor those of a person before.
  const summary = (await findSummary(tx, tenant.tenant_id, session_id)) ?? session.summary
  await updateVoiceSession(tx, tenant.tenant_id, session_id, { qa, qa_status: 'scored', qa_reason: null, summary })
  await putSummary(tx, session, summary)
  const subject = { callSid: session.call_sid, sessionId: session_id }
  const payload = { evaluation: showEvaluation(evaluation) }
  await enqueue(tx, tenant, [{ event: 'voice.evaluation.completed', subject, payload }], now)
  return evaluation
}

/** What is said of a conversation in sum stands in its call log, too. */
async function putSummary(tx: Tx, { tenant_id, call_sid }: VoiceSessionRow, summary: string | null): Promise<void> {
  if (summary === null) return
  const log = await findCallLog(tx, tenant_id, call_sid)
  if (log) await updateCallLog(tx, tenant_id, log.id, { summary })
}

/** Notes why a session has no score; one that has one keeps it. To be called with `lockSession`. */
export async function keepUnscored(tx: Tx, { tenant_id, id, qa }: VoiceSessionRow, reason: string): Promise<void> {
  if (qa === null) await updateVoiceSession(tx, tenant_id, id, { qa_status: 'not_scored', qa_reason: reason })
}

function qaOf({ score, summary, criteria }: EvaluationRow): StoredQa {
  return { score, high_quality: score >= HIGH_QUALITY, summary, criteria }
}
