import { type Static, Type } from 'typebox'
import { iso, nullable, Timestamp } from '../../platform/http/schemas.ts'
import { EVALUATION_SOURCES, type EvaluationRow, HIGH_QUALITY } from './evaluation-store.ts'

const Score = Type.Number({ minimum: 0, maximum: 1 })
const text = nullable(Type.String())

/** How good a conversation was, as somebody says. */
export const Evaluation = Type.Object({
  id: Type.String({ format: 'uuid' }),
  tenant_id: Type.String(),
  voice_session_id: Type.String({ format: 'uuid' }),
  agent_id: nullable(Type.String({ description: "Null when the tenant document's own agent spoke." })),
  agent_version_id: text,
  score: Score,
  high_quality: Type.Boolean({ description: 'Whether the score is 0.8 or more.' }),
  criteria: Type.Array(Type.Object({ name: Type.String(), score: Score, reason: text })),
  summary: text,
  source: Type.Enum(EVALUATION_SOURCES, {
    description: 'The chat model, a person, or the records alone. Of a session a person counts before the model.',
  }),
  created_at: Timestamp,
})

/** Writes an evaluation as the API shows it. */
export function showEvaluation(row: EvaluationRow): Static<typeof Evaluation> {
  const { session_id, session_ended_at: _at, agent_key: _key, created_at, ...shown } = row
  return {
    ...shown,
    voice_session_id: session_id,
    high_quality: row.score >= HIGH_QUALITY,
    created_at: iso(created_at),
  }
}
