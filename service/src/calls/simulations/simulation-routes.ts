import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import type { AgentVersionId } from '../../kernel/ids.ts'
import { readPage } from '../../kernel/pages.ts'
import { tenantOf } from '../../platform/http/guards.ts'
import {
  AnyId,
  dateOf,
  errorResponses,
  instantFilter,
  listBody,
  listResponse,
  nullable,
  Ok,
  pageFields,
  strict,
} from '../../platform/http/schemas.ts'
import { Scenario } from '../../records/simulations/scenario.ts'
import { SIMULATION_MODES, SIMULATION_STATUSES } from '../../records/simulations/simulation-store.ts'
import { Simulation, SimulationRun, showRun, showSimulation, showWhole, WholeSimulation } from './simulation-shape.ts'
import type { NewSimulation, Simulations } from './simulations.ts'

const MAX_SCENARIOS = 50
const MAX_REPETITIONS = 20

const versionId = Type.Unsafe<AgentVersionId>(
  Type.String({ minLength: 1, maxLength: 200, description: 'An exact version in place of a key; drafts too.' }),
)

const Body = strict({
  agent_key: Type.Optional(
    Type.String({ minLength: 1, maxLength: 63, description: 'Whose published version is tried.' }),
  ),
  agent_version_id: Type.Optional(versionId),
  name: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 200, description: 'For people.' }))),
  mode: Type.Optional(
    Type.Enum(SIMULATION_MODES, {
      description:
        'text, which is the default: the chat_model speaks. voice: the agent is called, and its realtime model does.',
    }),
  ),
  scenarios: Type.Array(Scenario, { minItems: 1, maxItems: MAX_SCENARIOS }),
  repetitions: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_REPETITIONS,
      description: 'How often each scenario is run. Default 1; 100 runs in all at most.',
    }),
  ),
  pass_threshold: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 1,
      description: 'The share of runs that must pass: more than none. Default 1: all of them.',
    }),
  ),
  score: Type.Optional(
    Type.Boolean({ description: "Whether the runs are scored by the version's criteria. Default true." }),
  ),
  min_score: Type.Optional(
    nullable(Type.Number({ minimum: 0, maximum: 1, description: 'A run with a lower score has not passed.' })),
  ),
  run_tools: Type.Optional(
    Type.Boolean({
      description:
        "Whether the tenant's own tools are really called where a scenario has no answer for them. Default false.",
    }),
  ),
  caller_model: Type.Optional(
    nullable(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: "What plays callers. Default: the agent's chat_model.",
      }),
    ),
  ),
})

const ListQuery = strict({
  ...pageFields,
  agent_key: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  agent_version_id: Type.Optional(versionId),
  status: Type.Optional(Type.Enum(SIMULATION_STATUSES)),
  passed: Type.Optional(Type.Boolean()),
  started_after: instantFilter('Of created_at, inclusive.'),
  started_before: instantFilter('Of created_at, exclusive.'),
})

const Params = strict({ id: AnyId })
const RunParams = strict({ id: AnyId, run_id: AnyId })
const One = Type.Object({ ok: Ok, simulation: WholeSimulation })

/** Simulations of calls. To be registered behind `tenantGuard`. */
export function simulationRoutes(simulations: Simulations): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/api/v1/simulations',
      {
        schema: {
          tags: ['runtime'],
          summary: 'Try a version of an agent with callers that are made up, in text or by voice',
          operationId: 'createSimulation',
          body: Body,
          response: { 200: One, ...errorResponses },
        },
      },
      async (request) => {
        const made = await simulations.create(tenantOf(request), wantedOf(request.body))
        return { ok: true as const, simulation: showWhole(made) }
      },
    )

    app.get(
      '/api/v1/simulations',
      {
        schema: {
          tags: ['runtime'],
          summary: 'List simulations, newest first',
          operationId: 'listSimulations',
          querystring: ListQuery,
          response: { 200: listResponse('simulations', Simulation), ...errorResponses },
        },
      },
      async (request) => {
        const { agent_key, agent_version_id, status, passed, started_after, started_before, ...page } = request.query
        const filter = {
          ...{ agentKey: agent_key, agentVersionId: agent_version_id, status, passed },
          ...{ after: dateOf(started_after), before: dateOf(started_before) },
        }
        const { rows, nextCursor } = await simulations.list(tenantOf(request), filter, readPage(page))
        return listBody('simulations', rows.map(showSimulation), nextCursor)
      },
    )

    app.get(
      '/api/v1/simulations/:id',
      {
        schema: {
          tags: ['runtime'],
          summary: 'Read a simulation, and what its runs have come to',
          operationId: 'getSimulation',
          params: Params,
          response: { 200: One, ...errorResponses },
        },
      },
      async (request) => {
        const found = await simulations.get(tenantOf(request), request.params.id)
        return { ok: true as const, simulation: showWhole(found) }
      },
    )

    app.get(
      '/api/v1/simulations/:id/runs/:run_id',
      {
        schema: {
          tags: ['runtime'],
          summary: 'Read one run of a simulation, with its transcript and function calls',
          operationId: 'getSimulationRun',
          params: RunParams,
          response: { 200: Type.Object({ ok: Ok, run: SimulationRun }), ...errorResponses },
        },
      },
      async (request) => {
        const { id, run_id: runId } = request.params
        return { ok: true as const, run: showRun(await simulations.run(tenantOf(request), id, runId)) }
      },
    )

    app.post(
      '/api/v1/simulations/:id/cancel',
      {
        schema: {
          tags: ['runtime'],
          summary: 'Run nothing more of a simulation; what is under way is given up',
          operationId: 'cancelSimulation',
          params: Params,
          response: { 200: One, ...errorResponses },
        },
      },
      async (request) => {
        const cancelled = await simulations.cancel(tenantOf(request), request.params.id)
        return { ok: true as const, simulation: showWhole(cancelled) }
      },
    )
  }
}

function wantedOf(body: Static<typeof Body>): NewSimulation {
  const { agent_key: agentKey = null, agent_version_id = null, mode = 'text' } = body
  return {
    choice: { agentKey, versionId: agent_version_id },
    name: body.name ?? null,
    mode,
    scenarios: body.scenarios,
    repetitions: body.repetitions ?? 1,
    passThreshold: body.pass_threshold ?? 1,
    isScored: body.score ?? true,
    minScore: body.min_score ?? null,
    runsTools: body.run_tools ?? false,
    callerModel: body.caller_model ?? null,
  }
}
