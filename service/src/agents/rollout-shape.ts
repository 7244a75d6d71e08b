import { type Static, Type } from 'typebox'
import { iso, nullable, Timestamp } from '../platform/http/schemas.ts'
import type { Rollout } from './rollout-store.ts'

/** A share of calls. */
export const Percentage = Type.Number({ minimum: 0, maximum: 100, description: 'Two decimals at most.' })

/** A version that answers a share of its agent's calls. */
export const RolloutEntry = Type.Object({
  id: Type.String({ format: 'uuid' }),
  tenant_id: Type.String(),
  agent_id: Type.String({ format: 'uuid' }),
  agent_key: Type.String(),
  agent_name: Type.String(),
  agent_version_id: Type.String({ format: 'uuid' }),
  version_number: Type.Integer({ minimum: 1 }),
  position: Type.Integer({ minimum: 0 }),
  traffic_percentage: Percentage,
  created_at: Timestamp,
  updated_at: Timestamp,
})

const rate = (description: string) => Type.Number({ minimum: 0, maximum: 1, description })

/** By what a rollout is judged. */
export const Policy = Type.Object({
  enabled: Type.Boolean({ description: 'Default false.' }),
  lookback_hours: Type.Integer({ minimum: 1, maximum: 8_760, description: 'Default 24.' }),
  min_avg_score: rate('Default 0.7.'),
  min_eval_count: Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Default 20.' }),
  min_high_quality_rate: rate('Default 0.6.'),
})

/** What versions lost by the policy of a rollout, and why: for whoever wonders where a share has gone. */
export const LastRollback = nullable(
  Type.Object({
    at: Timestamp,
    reasons: Type.Array(Type.String({ description: 'A sentence with its figures.' })),
    versions: Type.Array(
      Type.Object({
        agent_version_id: Type.String({ format: 'uuid' }),
        version_number: Type.Integer({ minimum: 1 }),
        traffic_percentage: Type.Number({ minimum: 0, maximum: 100, description: 'The share that it lost.' }),
      }),
    ),
  }),
)

/** Writes an entry of a rollout as the API shows it. */
export function showRollout(rollout: Rollout): Static<typeof RolloutEntry> {
  const { created_at, updated_at, starts_at: _, ...shown } = rollout
  return { ...shown, created_at: iso(created_at), updated_at: iso(updated_at) }
}
