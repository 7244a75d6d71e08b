import { sql } from 'kysely'
import { type AgentVersionId, newId, type TenantId } from '../../kernel/ids.ts'
import type { Db } from '../../platform/db/schema.ts'
import { type CallLogRow, insertCallLog } from '../call-log-store.ts'
import type { CallStatus, SessionId } from '../call-values.ts'
import { insertVoiceSession } from '../voice-session-store.ts'
import { countTimes, packTimes } from './response-times.ts'
import { countHour, listChangedHoursAcrossTenants } from './rollup-store.ts'

/** What there is to be counted of a call. */
export type CallFacts = {
  at: Date
  status: CallStatus
  agentKey: string | null
  versionId: AgentVersionId | null
  versionNumber: number | null
  /** Null: nobody answered. */
  talkSeconds: number | null
  escalated: boolean
  interruptions: number
  timesMs: number[]
  score: number | null
  outcome: string | null
  costUsd: number | null
}

const USUAL: Omit<CallFacts, 'at'> = {
  ...{ status: 'completed', agentKey: 'desk', versionId: null, versionNumber: null, talkSeconds: 60, escalated: false },
  ...{ interruptions: 0, timesMs: [], score: null, outcome: null, costUsd: null },
}

/** A call that is over, as all that write about it leave it. */
export async function addCall(
  db: Db,
  tenantId: TenantId,
  { at, ...given }: Partial<CallFacts> & Pick<CallFacts, 'at'>,
): Promise<{ callSid: string; sessionId: SessionId; id: string }> {
  const facts = { ...USUAL, ...given }
  const [id, sessionId] = [newId<string>(at.getTime()), newId<SessionId>(at.getTime())]
  const callSid = `CA${id}`
  const { agentKey: agent_key, versionId: agent_version_id, versionNumber: version_number, talkSeconds } = facts
  const both = {
    ...{ call_sid: callSid, stream_sid: null, org_id: null, direction: 'inbound' as const, metadata: {} },
    ...{ from: '+12025550101', to: '+12025550199', agent_key, agent_name: agent_key, agent_version_id, version_number },
    ...{ created_at: at, started_at: at, ended_at: at, duration_seconds: talkSeconds },
  }
  const log: Omit<CallLogRow, 'tenant_id'> = {
    ...both,
    ...{
      id,
      status: facts.status,
      status_at: at,
      voice_session_id: sessionId,
      callback_task_id: null,
      campaign_id: null,
      placed_by: null,
      canceled_by: null,
    },
    ...{
      answered_at: talkSeconds === null ? null : at,
      answered_by: null,
      answered_by_source: null,
      escalated: facts.escalated,
    },
    cost_usd: facts.costUsd,
    ...{ escalation_target: null, summary: null, error_code: null, error_message: null },
  }
  const times = packTimes(countTimes(facts.timesMs))
  const { score, outcome, interruptions } = facts
  await db.transaction().execute(async (tx) => {
    await insertCallLog(tx, tenantId, log)
    await insertVoiceSession(tx, tenantId, {
      ...both,
      ...{ id: sessionId, call_status: facts.status, model: null, voice: null, audio_output_provider: 'primary' },
      ...{ end_reason: 'caller_hangup', resumed_count: 0, tags: [], outcome, outcome_notes: null, greeting: null },
      latency: {
        ...{ greeting_ms: null, response_p50_ms: null, response_p95_ms: null, interruptions },
        ...(times !== null && { response_times: times }),
      },
      ...{ cost_usd: facts.costUsd, summary: null, extraction: null, extraction_status: null, extraction_reason: null },
      ...{ completion_held: false, day_spent: null, max_call_seconds: null },
      usage: { input_tokens: 0, output_tokens: 0, cached_tokens: 0, audio_seconds: 0 },
      ...{ has_recording: false, qa: score === null ? null : qaOf(score), qa_status: null, qa_reason: null },
    })
  })
  return { callSid, sessionId, id }
}

/** What a session shows of its score. */
export function qaOf(score: number) {
  return { score, high_quality: score >= 0.8, summary: null, criteria: [] }
}

/** Counts all that is to be counted. @returns how many hours that were. */
export async function countAll(db: Db): Promise<number> {
  const hours = await listChangedHoursAcrossTenants(db, { tenantId: null, limit: 1_000 })
  for (const hour of hours) await db.transaction().execute((tx) => countHour(tx, hour))
  return hours.length
}

/** All that is counted, without an order. */
export async function countedRows(db: Db): Promise<string[]> {
  const { rows } = await sql<{ row: string }>`
    select call_rollups::text as row from call_rollups
     union all select call_outcome_rollups::text from call_outcome_rollups
     order by 1`.execute(db)
  return rows.map(({ row }) => row)
}
