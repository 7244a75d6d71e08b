import { queryOptions } from '@tanstack/react-query'
import type { Answer } from '../../api/answers.ts'
import type { paths } from '../../api/api-types.ts'
import { answerOf, api, forTenant } from '../../api/client.ts'
import { ApiFailure } from '../../api/failure.ts'
import type { Version } from './agent-queries.ts'

const SIMULATIONS = '/api/v1/simulations'

/** A version that is tried with callers that are made up. */
export type Simulation = Answer<typeof SIMULATIONS, 'get'>['simulations'][number]

/** One call of it. */
export type Run = Answer<`${typeof SIMULATIONS}/{id}`, 'get'>['simulation']['runs'][number]

type Wanted = NonNullable<paths[typeof SIMULATIONS]['post']['requestBody']>['content']['application/json']
type Scenarios = Wanted['scenarios']

/** In text, or by voice. */
export type Mode = NonNullable<Wanted['mode']>

/** Older ones are in the API. */
const SHOWN = 5
const REFRESH_MS = 2_000

const simulationsKey = ({ tenant_id, id }: Version) => ['simulations', tenant_id, id]

/** Whether what is known of it changes by itself. */
const isOpen = ({ status }: Pick<Simulation, 'status'>) => status === 'queued' || status === 'running'

/** The last ones of a version, newest first; they are read again while one goes on. */
export const simulationsQuery = (version: Version) =>
  queryOptions({
    queryKey: simulationsKey(version),
    queryFn: async () => {
      const params = { query: { agent_version_id: version.id, limit: SHOWN } }
      return (await answerOf(api.GET(SIMULATIONS, { params, headers: forTenant(version.tenant_id) }))).simulations
    },
    refetchInterval: ({ state }) => (state.data?.some(isOpen) ? REFRESH_MS : false),
  })

/** The runs of one. */
export const runsQuery = (version: Version, id: string) =>
  queryOptions({
    queryKey: [...simulationsKey(version), id],
    queryFn: async () => {
      const asked = { params: { path: { id } }, headers: forTenant(version.tenant_id) }
      return (await answerOf(api.GET(`${SIMULATIONS}/{id}`, asked))).simulation
    },
    refetchInterval: ({ state }) => (state.data && isOpen(state.data) ? REFRESH_MS : false),
  })

/** What was said and done in a run. */
export const runQuery = (
  version: Version,
  { simulationId: id, runId: run_id }: { simulationId: string; runId: string },
) =>
  queryOptions({
    queryKey: [...simulationsKey(version), id, run_id],
    queryFn: async () => {
      const asked = { params: { path: { id, run_id } }, headers: forTenant(version.tenant_id) }
      return (await answerOf(api.GET(`${SIMULATIONS}/{id}/runs/{run_id}`, asked))).run
    },
  })

/** Has a version tried with scenarios, as JSON. @throws ApiFailure, also for what is no JSON. */
export async function simulate(
  version: Version,
  { scenarios, ...how }: { scenarios: string; mode: Mode; repetitions: number },
) {
  const body = { agent_version_id: version.id, scenarios: readScenarios(scenarios), ...how }
  return (await answerOf(api.POST(SIMULATIONS, { body, headers: forTenant(version.tenant_id) }))).simulation
}

function readScenarios(text: string): Scenarios {
  try {
    return JSON.parse(text) as Scenarios
  } catch (error) {
    const why = error instanceof Error ? error.message : ''
    throw new ApiFailure({ status: 400, code: 'invalid_json', message: `The scenarios are no JSON: ${why}` })
  }
}
