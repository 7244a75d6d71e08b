import { type AgentVersionId, newId, type TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { CallDirection } from '../records/call-values.ts'
import { someCall, tenantTold } from '../records/calls.fixture.ts'
import { type EvaluationSource, insertEvaluation } from '../records/evaluations/evaluation-store.ts'
import { newRecord } from '../records/sessions.ts'
import { insertVoiceSession } from '../records/voice-session-store.ts'

/** `begunAt`: when they began; when they ended if it is not given. */
type Scored = {
  versionId: string
  scores: number[]
  endedAt: Date
  begunAt?: Date
  source?: EvaluationSource
  direction?: CallDirection
}

/** Calls of a version that have ended, each with its score. */
export async function scoredCalls(db: Db, tenantId: TenantId, scored: Scored): Promise<void> {
  const { scores, endedAt, begunAt = endedAt, source = 'model', direction = 'inbound' } = scored
  const versionId = scored.versionId as AgentVersionId
  const agent = { agentKey: 'desk', agentName: 'Desk', versionId, versionNumber: 1 }
  await db.transaction().execute(async (tx) => {
    for (const score of scores) {
      const id = newId<string>(endedAt.getTime())
      const { session } = newRecord(tenantTold(tenantId), someCall(`CA${id}`, { agent, direction }), begunAt)
      await insertVoiceSession(tx, tenantId, { ...session, ended_at: endedAt })
      await insertEvaluation(tx, {
        ...{ tenant_id: tenantId, id, session_id: session.id, session_ended_at: endedAt, created_at: endedAt },
        ...{ agent_id: null, agent_key: 'desk', agent_version_id: versionId },
        ...{ source, score, criteria: [], summary: null },
      })
    }
  })
}
