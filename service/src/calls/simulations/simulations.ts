import { findAgentVersion } from '../../agents/agent-version-store.ts'
import type { ResolveAgent } from '../../agents/resolve.ts'
import type { Clock } from '../../kernel/clock.ts'
import { AppError, type FaultDetail, invalidRequest, notSetUp } from '../../kernel/errors.ts'
import { newId, type TenantId } from '../../kernel/ids.ts'
import { type Page, type PageRequest, toPage } from '../../kernel/pages.ts'
import { isUuid } from '../../platform/db/newest-first.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import {
  cancelRuns,
  countRuns,
  findRun,
  insertRuns,
  type ListedRun,
  listRuns,
  type NewRun,
  type RunCounts,
  type SimulationRunId,
  type SimulationRunRow,
} from '../../records/simulations/run-store.ts'
import type { Scenario } from '../../records/simulations/scenario.ts'
import {
  countOpenSimulations,
  findSimulation,
  insertSimulation,
  type ListedSimulation,
  listSimulations,
  lockNewSimulations,
  lockSimulation,
  type SimulationFilter,
  type SimulationId,
  type SimulationMode,
  type SimulationRow,
  updateSimulation,
} from '../../records/simulations/simulation-store.ts'
import { agentConfigDefaults } from '../../tenancy/agent-config-defaults.ts'
import { holdKnownTenant, knownTenant } from '../../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { type NamedAgent, namedAgent } from '../named-agent.ts'
import { isDaySpent } from './day-budget.ts'
import { NO_VOICE } from './no-voice.ts'
import { scenarioFaults } from './scenario-faults.ts'

/** A simulation to be made. Null is what was not given. */
export type NewSimulation = {
  choice: NamedAgent
  name: string | null
  mode: SimulationMode
  scenarios: Scenario[]
  repetitions: number
  passThreshold: number
  isScored: boolean
  minScore: number | null
  runsTools: boolean
  callerModel: string | null
}

/** A simulation, and what its runs have come to. */
export type CountedSimulation = { simulation: ListedSimulation; counts: RunCounts }

/** One with all that was asked for, and its runs. */
export type ShownSimulation = CountedSimulation & { scenarios: Scenario[]; runs: ListedRun[] }

/** Agents tried with callers that are made up, in text or by voice. */
export type Simulations = {
  /**
   * Asks for all scenarios to be run with a version of an agent as it is now, a draft too.
   *
   * @throws AppError `invalid_request` for scenarios that cannot be run, and unless exactly one agent is named and the tenant has
   * it; `unavailable` without the models; `budget_exhausted` when nothing of the tenant's day is left; `conflict` while too many wait.
   */
  create(tenantId: TenantId, wanted: NewSimulation): Promise<ShownSimulation>
  /** Newest first. */
  list(tenantId: TenantId, filter: SimulationFilter, page: PageRequest): Promise<Page<CountedSimulation>>
  /** @throws AppError `not_found`. */
  get(tenantId: TenantId, id: string): Promise<ShownSimulation>
  /** A run with all that was said and done in it. @throws AppError `not_found`. */
  run(tenantId: TenantId, id: string, runId: string): Promise<SimulationRunRow>
  /**
   * Runs nothing of it any more; what is under way is given up.
   *
   * @throws AppError `not_found`; `conflict` when it is over.
   */
  cancel(tenantId: TenantId, id: string): Promise<ShownSimulation>
}

type Deps = {
  db: Db
  clock: Clock
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  resolveAgent: ResolveAgent
  /** Whether there is a chat model. */
  hasModel: boolean
  /** Whether agents can be called by voice. */
  hasVoice: boolean
}

/** Of one simulation: scenarios times repetitions. */
const MAX_RUNS = 100
/** Simulations of a tenant that are not over. */
const MAX_OPEN = 20

export function makeSimulations(deps: Deps): Simulations {
  const { db, clock } = deps

  async function shown(handle: Db, simulation: ListedSimulation & Pick<SimulationRow, 'scenarios'>) {
    const { tenant_id: tenantId, id, scenarios } = simulation
    return { ...(await counted(handle, simulation)), scenarios, runs: await listRuns(handle, tenantId, id) }
  }

  return {
    async create(tenantId, wanted) {
      if (!deps.hasModel)
        throw notSetUp(
          "No chat model is configured: set OPENAI_API_KEY, and OPENAI_BASE_URL where the realtime model is not OpenAI's.",
        )
      if (wanted.mode === 'voice' && !deps.hasVoice) throw notSetUp(NO_VOICE)
      refuse(faultsOf(wanted))
      const tenant = await knownTenant(deps.tenants, tenantId)
      const simulation = await newSimulation(deps, tenant, wanted)
      if (await isDaySpent(db, tenant, simulation.created_at))
        throw new AppError(
          'budget_exhausted',
          "Nothing is left of the tenant's budget for this day: simulate tomorrow, or raise limits.budget_per_day.",
        )
      return db.transaction().execute(async (tx) => {
        await holdKnownTenant(tx, tenantId)
        await lockNewSimulations(tx, tenantId)
        await expectRoom(tx, tenantId)
        await insertSimulation(tx, simulation)
        const of = { tenantId, simulationId: simulation.id, now: simulation.created_at }
        await insertRuns(tx, of, runsOf(wanted, simulation.created_at))
        return shown(tx, simulation)
      })
    },
    async list(tenantId, filter, page) {
      if (filter.agentVersionId !== undefined && !isUuid(filter.agentVersionId)) return { rows: [], nextCursor: null }
      const rows = await listSimulations(db, tenantId, filter, page)
      const counts = await countRuns(
        db,
        tenantId,
        rows.map(({ id }) => id),
      )
      const simulations = rows.map((simulation) => ({ simulation, counts: counts.get(simulation.id) ?? uncounted() }))
      return toPage(simulations, page.limit, ({ simulation }) => ({
        ...{ createdAt: simulation.created_at, id: simulation.id },
      }))
    },
    get: async (tenantId, id) => shown(db, await expectSimulation(db, tenantId, id)),
    async run(tenantId, id, runId) {
      const simulation = await expectSimulation(db, tenantId, id)
      const wanted = { simulationId: simulation.id, id: runId as SimulationRunId }
      const run = isUuid(runId) ? await findRun(db, tenantId, wanted) : null
      if (!run) throw new AppError('not_found', 'The simulation has no such run.')
      return run
    },
    async cancel(tenantId, id) {
      const { id: simulationId, scenarios } = await expectSimulation(db, tenantId, id)
      return db.transaction().execute(async (tx) => {
        const before = await lockSimulation(tx, tenantId, simulationId)
        if (!before) throw unknownSimulation()
        if (before.status === 'completed' || before.status === 'cancelled')
          throw new AppError('conflict', `The simulation is ${before.status}: there is nothing left of it to cancel.`)
        const now = new Date(clock.now())
        await cancelRuns(tx, tenantId, simulationId, now)
        const after = await updateSimulation(tx, before, { status: 'cancelled', completed_at: now })
        return shown(tx, { ...after, scenarios })
      })
    },
  }
}

/** What has come of all runs of a simulation so far. */
export async function counted(db: Db, simulation: ListedSimulation): Promise<CountedSimulation> {
  const counts = await countRuns(db, simulation.tenant_id, [simulation.id])
  return { simulation, counts: counts.get(simulation.id) ?? uncounted() }
}

function uncounted(): never {
  throw new Error('the runs of a simulation were not counted')
}

async function newSimulation(
  { db, clock, resolveAgent }: Deps,
  tenant: TenantRuntime,
  wanted: NewSimulation,
): Promise<SimulationRow> {
  const { tenant_id } = tenant
  const { versionId } = await namedAgent(resolveAgent, tenant, wanted.choice)
  // As it is stored now: what resolves may be a second old.
  const version = versionId && (await findAgentVersion(db, tenant_id, versionId))
  if (!version) throw new AppError('not_found', 'The tenant has no such agent version.')
  const { config, agent_id, agent_key, version_number } = version
  const { criteria, agent_name } = agentConfigDefaults(config)
  if (wanted.minScore !== null && criteria.length === 0)
    refuse([{ path: '/body/min_score', message: 'needs an agent version that names criteria' }])
  const now = new Date(clock.now())
  return {
    ...{ tenant_id, id: newId<SimulationId>(now.getTime()), name: wanted.name, mode: wanted.mode, agent_id, agent_key },
    ...{ agent_name: agent_name || version.agent_name, agent_version_id: version.id, version_number, config },
    ...{ scenarios: wanted.scenarios, repetitions: wanted.repetitions, pass_threshold: wanted.passThreshold },
    ...{ is_scored: wanted.isScored && criteria.length > 0, min_score: wanted.minScore, runs_tools: wanted.runsTools },
    ...{ caller_model: wanted.callerModel, status: 'queued', pass_rate: null, passed: null },
    ...{ created_at: now, started_at: null, completed_at: null },
  }
}

function faultsOf({ scenarios, repetitions, isScored, minScore }: NewSimulation): FaultDetail[] {
  const runs = scenarios.length * repetitions
  return [
    ...scenarioFaults(scenarios, '/body/scenarios'),
    ...(runs > MAX_RUNS
      ? [{ path: '/body/repetitions', message: `makes ${runs} runs of all scenarios: at most ${MAX_RUNS} are run` }]
      : []),
    ...(minScore !== null && !isScored ? [{ path: '/body/min_score', message: 'needs score, which is false' }] : []),
  ]
}

/** @throws AppError `invalid_request` when there are any. */
function refuse([first, ...others]: FaultDetail[]): void {
  if (first) throw invalidRequest([first, ...others])
}

/** @throws AppError `conflict` when as many are under way as may be. */
async function expectRoom(tx: Tx, tenantId: TenantId): Promise<void> {
  if ((await countOpenSimulations(tx, tenantId)) >= MAX_OPEN)
    throw new AppError('conflict', `${MAX_OPEN} simulations wait or run: wait for them, or cancel some.`)
}

/** Each scenario once before any comes again. */
function runsOf({ scenarios, repetitions }: NewSimulation, now: Date): NewRun[] {
  return Array.from({ length: repetitions }, (_each, index) => index + 1).flatMap((repetition) =>
    scenarios.map(({ name }, index) => ({
      ...{ id: newId<SimulationRunId>(now.getTime()), position: (repetition - 1) * scenarios.length + index + 1 },
      ...{ scenario_index: index, scenario: name, repetition },
    })),
  )
}

/** @throws AppError `not_found` */
async function expectSimulation(db: Db, tenantId: TenantId, id: string): Promise<SimulationRow> {
  const simulation = isUuid(id) ? await findSimulation(db, tenantId, id as SimulationId) : null
  if (!simulation) throw unknownSimulation()
  return simulation
}

function unknownSimulation(): AppError {
  return new AppError('not_found', 'There is no such simulation.')
}
