import { type Static, Type } from 'typebox'
import { nullable } from '../platform/http/schemas.ts'
import { GOVERNANCE_STATUSES } from './rollout-judgement.ts'
import { Policy } from './rollout-shape.ts'

const figure = (description: string) => nullable(Type.Number({ minimum: 0, maximum: 1, description }))

const JudgedVersion = Type.Object({
  agent_version_id: Type.String({ format: 'uuid' }),
  version_number: Type.Integer({ minimum: 1 }),
  traffic_percentage: Type.Number({
    minimum: 0,
    maximum: 100,
    description: 'When it was judged; of the published version all that the others do not have.',
  }),
  eval_count: Type.Integer({
    minimum: 0,
    description:
      'Sessions with a score that ended in the last lookback_hours; those of browser calls only of the published version.',
  }),
  avg_score: figure('Null without a score.'),
  high_quality_rate: figure('Of them, those with a score of 0.8 or more.'),
  breached: Type.Boolean({ description: 'There are enough scores, and they are below what the policy wants.' }),
})

/** What is thought of a rollout, and what was done about it. */
export const GovernanceEvaluation = Type.Object({
  agent_id: Type.String({ format: 'uuid' }),
  agent_key: Type.String(),
  agent_name: Type.String(),
  status: Type.Enum(GOVERNANCE_STATUSES),
  applied: Type.Boolean({ description: 'Whether breached versions have lost their share.' }),
  reasons: Type.Array(Type.String({ description: 'A sentence with its figures.' })),
  policy: nullable(Policy),
  published_version: nullable(JudgedVersion),
  rollout_versions: Type.Array(JudgedVersion),
})
export type GovernanceEvaluation = Static<typeof GovernanceEvaluation>
