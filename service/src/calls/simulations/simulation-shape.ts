import { type Static, Type } from 'typebox'
import { iso, isoOrNull, nullable, Timestamp } from '../../platform/http/schemas.ts'
import { roundedUsd } from '../../platform/realtime/price.ts'
import { TOOL_STATUSES } from '../../records/call-values.ts'
import {
  ANSWERED_BY,
  type ListedRun,
  RUN_STATUSES,
  type SimulationRunRow,
} from '../../records/simulations/run-store.ts'
import { ENDED_BY, Scenario } from '../../records/simulations/scenario.ts'
import { SIMULATION_MODES, SIMULATION_STATUSES } from '../../records/simulations/simulation-store.ts'
import type { CountedSimulation, ShownSimulation } from './simulations.ts'

const count = Type.Integer({ minimum: 0 })
const text = nullable(Type.String())
const share = Type.Number({ minimum: 0, maximum: 1 })
const usd = nullable(Type.Number({ description: 'In USD; null where the price of some of it is not known.' }))

const simulationFields = {
  id: Type.String(),
  tenant_id: Type.String(),
  name: text,
  mode: Type.Enum(SIMULATION_MODES, { description: 'voice: the agent is called, and its own realtime model speaks.' }),
  agent_key: Type.String(),
  agent_name: Type.String(),
  agent_version_id: Type.String(),
  version_number: count,
  repetitions: count,
  pass_threshold: share,
  score: Type.Boolean(),
  min_score: nullable(share),
  run_tools: Type.Boolean(),
  caller_model: text,
  status: Type.Enum(SIMULATION_STATUSES),
  passed: nullable(Type.Boolean({ description: 'Null until it is completed, as pass_rate.' })),
  pass_rate: nullable(share),
  runs_by_status: Type.Object({
    total: count,
    pending: count,
    running: count,
    passed: count,
    failed: count,
    error: count,
    cancelled: count,
  }),
  cost_usd: usd,
  created_at: Timestamp,
  started_at: nullable(Timestamp),
  completed_at: nullable(Timestamp),
}

const runFields = {
  id: Type.String(),
  position: count,
  scenario: Type.String({ description: 'Its name.' }),
  repetition: count,
  status: Type.Enum(RUN_STATUSES, {
    description: 'error: it could not be run to its end, which counts as not passed.',
  }),
  reasons: Type.Array(Type.String(), { description: 'Why it has not passed, as sentences.' }),
  ended_by: nullable(Type.Enum(ENDED_BY)),
  score: nullable(share),
  summary: text,
  slowest_reply_ms: nullable(count),
  usage: nullable(Type.Object({ input_tokens: count, cached_tokens: count, output_tokens: count })),
  cost_usd: usd,
  started_at: nullable(Timestamp),
  ended_at: nullable(Timestamp),
}

/** A simulation as a list shows it. */
export const Simulation = Type.Object(simulationFields)

/** One with its scenarios and runs. */
export const WholeSimulation = Type.Object({
  ...simulationFields,
  scenarios: Type.Array(Scenario),
  runs: Type.Array(Type.Object(runFields), { description: 'In their order; each alone has its transcript.' }),
})

/** A run with all that was said and done in it. */
export const SimulationRun = Type.Object({
  ...runFields,
  criteria: nullable(Type.Array(Type.Object({ name: Type.String(), score: share, reason: nullable(Type.String()) }))),
  transcript: Type.Array(
    Type.Object({
      role: Type.Enum(['caller', 'agent', 'system']),
      text: Type.String(),
      reply_ms: nullable(
        Type.Integer({
          description: 'How long the agent took for it; by voice, how long its first sound was waited for.',
        }),
      ),
    }),
  ),
  function_calls: Type.Array(
    Type.Object({
      name: Type.String(),
      arguments: Type.String({ description: 'As the model wrote them: JSON as a rule.' }),
      result: Type.String({ description: 'As the model was told.' }),
      status: Type.Enum(TOOL_STATUSES),
      answered_by: Type.Enum(ANSWERED_BY, {
        description:
          'The scenario; a built-in, which did nothing outside the simulation; the tool itself; or nobody, and nothing was done.',
      }),
    }),
  ),
})

export function showSimulation({ simulation: row, counts }: CountedSimulation): Static<typeof Simulation> {
  const { costUsd, ...byStatus } = counts
  return {
    ...{ id: row.id, tenant_id: row.tenant_id, name: row.name, mode: row.mode, agent_key: row.agent_key },
    ...{ agent_name: row.agent_name, agent_version_id: row.agent_version_id, version_number: row.version_number },
    ...{ repetitions: row.repetitions, pass_threshold: row.pass_threshold, score: row.is_scored },
    ...{ min_score: row.min_score, run_tools: row.runs_tools, caller_model: row.caller_model, status: row.status },
    ...{ passed: row.passed, pass_rate: row.pass_rate },
    runs_by_status: { ...byStatus, total: Object.values(byStatus).reduce((sum, each) => sum + each, 0) },
    cost_usd: costUsd === null ? null : roundedUsd(costUsd),
    ...{ created_at: iso(row.created_at), started_at: isoOrNull(row.started_at) },
    completed_at: isoOrNull(row.completed_at),
  }
}

export function showWhole(shown: ShownSimulation): Static<typeof WholeSimulation> {
  return { ...showSimulation(shown), scenarios: shown.scenarios, runs: shown.runs.map(showListedRun) }
}

function showListedRun(row: ListedRun) {
  const { input_tokens, cached_tokens, output_tokens } = row
  const isCounted = input_tokens !== null && cached_tokens !== null && output_tokens !== null
  return {
    ...{ id: row.id, position: row.position, scenario: row.scenario, repetition: row.repetition, status: row.status },
    ...{ reasons: row.reasons, ended_by: row.ended_by, score: row.score },
    ...{ summary: row.summary, slowest_reply_ms: row.slowest_ms },
    usage: isCounted ? { input_tokens, cached_tokens, output_tokens } : null,
    cost_usd: row.cost_usd === null || row.has_unpriced ? null : roundedUsd(row.cost_usd),
    ...{ started_at: isoOrNull(row.started_at), ended_at: isoOrNull(row.ended_at) },
  }
}

export function showRun(row: SimulationRunRow): Static<typeof SimulationRun> {
  return {
    ...showListedRun(row),
    criteria: row.criteria,
    transcript: row.transcript.map(({ replyMs, ...turn }) => ({ ...turn, reply_ms: replyMs })),
    function_calls: row.function_calls.map(({ answeredBy, ...call }) => ({ ...call, answered_by: answeredBy })),
  }
}
