import type { Prompts } from '../../agents/prompts.ts'
import type { ResolvedAgent } from '../../agents/resolve.ts'
import { type Cancel, type Clock, withTimeout } from '../../kernel/clock.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { ChatFault, type ChatModel } from '../../platform/chat/port.ts'
import { onCommit } from '../../platform/db/commits.ts'
import type { Db } from '../../platform/db/schema.ts'
import type { Log } from '../../platform/log.ts'
import { isDatabaseTrouble, isRowFault } from '../../records/database-trouble.ts'
import {
  type ClaimedRun,
  claimRunAcrossTenants,
  endRunLeasesAcrossTenants,
  releaseRun,
  renewRun,
} from '../../records/simulations/run-claim-store.ts'
import { addRunUsage, type RunResult, SIMULATIONS_TOPIC } from '../../records/simulations/run-store.ts'
import { findSimulation, type SimulationRow, startSimulation } from '../../records/simulations/simulation-store.ts'
import { agentConfigDefaults } from '../../tenancy/agent-config-defaults.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import type { TenantTools } from '../../voice/tools/tenant-tools.ts'
import type { Tool } from '../../voice/tools/tool.ts'
import { isDaySpent } from './day-budget.ts'
import { makePatternReasons, type PatternReasons } from './pattern-reasons.ts'
import { ANSWER_WITHIN_MS, CallLost, runScenario } from './run-scenario.ts'
import { notRun, settle } from './settle.ts'

type Options = {
  db: Db
  clock: Clock
  log: Pick<Log, 'info' | 'warn' | 'error'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  prompts: Pick<Prompts, 'textFor'>
  tenantTools: Pick<TenantTools, 'of'>
  builtIns: readonly Tool[]
  model: ChatModel
  /** No other process is on the database: what was claimed before the start is nobody's. */
  isAlone: boolean
}

/** Runs at a time, in this process; and of one tenant, on all nodes together. */
const LANES = 4
const PER_TENANT = 2
/** Due runs are looked for this often; what was asked for in this process is begun at once. */
const LOOK_EVERY_MS = 5_000
/** Renewed before each question to a model, and each tool: longer than either takes. */
const LEASE_MS = ANSWER_WITHIN_MS + 60_000
/** A run whose model does not answer comes again after these, by its attempts. */
const WAITS_MS = [5_000, 30_000, 120_000, 600_000]
const MAX_ATTEMPTS = WAITS_MS.length + 1
const CLOSE_WITHIN_MS = 1_500

/**
 * Runs the simulations of tenants, each of their runs once, however many processes do the same: a run is claimed with a lease and
 * a token, begun anew when its process was lost, and settled only by who holds the token. It stands beside the calls, and none
 * waits for it.
 */
export class SimulationWorker {
  readonly #options: Options
  readonly #running = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  readonly #patternReasons: PatternReasons
  #cancels: Cancel[] = []
  #looking: Promise<void> | null = null
  /** A look fell due while another one took its time. */
  #isDue = false
  #isClosing = false

  constructor(options: Options) {
    this.#options = options
    this.#patternReasons = makePatternReasons(options.clock)
  }

  /** Resolves when it is under way. @throws the database's error. */
  async start(): Promise<void> {
    const { db, clock, isAlone } = this.#options
    if (isAlone) await endRunLeasesAcrossTenants(db)
    if (this.#isClosing) return
    const look = () => this.#look()
    this.#cancels = [clock.every(LOOK_EVERY_MS, look), onCommit(db, SIMULATIONS_TOPIC, look)]
    look()
  }

  /** Begins nothing more; what is under way goes on. */
  stop(): void {
    this.#isClosing = true
    for (const cancel of this.#cancels) cancel()
  }

  /** Begins nothing more, and gives back what is under way. Never rejects. */
  async close(): Promise<void> {
    this.stop()
    this.#stopping.abort()
    const settled = async () => {
      await this.#looking
      await Promise.all(this.#running)
    }
    const late = () => new Error('it takes its time')
    await withTimeout(this.#options.clock, settled(), CLOSE_WITHIN_MS, late).catch(() => undefined)
  }

  #look(): void {
    if (this.#isClosing) return
    this.#isDue = this.#looking !== null
    if (this.#looking) return
    this.#looking = this.#claim()
      // The database is away: others say so, and it is looked again.
      .catch(() => undefined)
      .finally(() => {
        this.#looking = null
        if (this.#isDue) this.#look()
      })
  }

  async #claim(): Promise<void> {
    const { db } = this.#options
    while (this.#running.size < LANES && !this.#isClosing) {
      const claimed = await claimRunAcrossTenants(db, { now: this.#now, perTenant: PER_TENANT, leaseMs: LEASE_MS })
      if (!claimed) return
      this.#run(claimed)
    }
  }

  #run(claimed: ClaimedRun): void {
    const done = this.#simulate(claimed)
      .catch((err: unknown) => this.#failed(claimed, err))
      .finally(() => {
        this.#running.delete(done)
        this.#look()
      })
    this.#running.add(done)
  }

  async #simulate(claimed: ClaimedRun): Promise<void> {
    const { db, tenants } = this.#options
    const tenant = await tenants.get(claimed.tenantId)
    const simulation = tenant && (await findSimulation(db, claimed.tenantId, claimed.simulationId))
    // What is gone has taken its runs with it.
    if (!simulation) return
    await startSimulation(db, claimed.tenantId, simulation.id, this.#now)
    const result = await this.#resultOf(claimed, tenant, simulation)
    await settle(db, claimed, { result, now: this.#now })
  }

  async #resultOf(claimed: ClaimedRun, tenant: TenantRuntime, simulation: SimulationRow): Promise<RunResult> {
    const { db, prompts, tenantTools } = this.#options
    const scenario = simulation.scenarios[claimed.scenarioIndex]
    if (!scenario) return notRun('Its scenario is not there.')
    if (claimed.attempts > MAX_ATTEMPTS) return notRun(`It was begun ${MAX_ATTEMPTS} times, and never came to its end.`)
    if (await isDaySpent(db, tenant, this.#now))
      return notRun(
        "Nothing was left of the tenant's budget for the day: raise limits.budget_per_day, or simulate tomorrow.",
      )
    const agent = agentOf(simulation)
    const patternReasons = this.#patternReasons
    return runScenario(
      { ...this.#options, patternReasons },
      {
        ...{ tenant, simulation, scenario, agent },
        own: await tenantTools.of(tenant, agent.config.tools),
        prompt: await prompts.textFor(tenant),
        // Of this beginning alone: after a stop the next one has the same number.
        name: claimed.claimToken,
        signal: this.#stopping.signal,
        keep: async () => {
          if (!(await renewRun(db, claimed, LEASE_MS))) throw new CallLost()
        },
        pay: (usage) => addRunUsage(db, claimed, usage),
      },
    )
  }

  /** Never rejects: what cannot be given back comes again when its lease is over. */
  async #failed(claimed: ClaimedRun, err: unknown): Promise<void> {
    const { db, log, clock } = this.#options
    const fields = { tenant_id: claimed.tenantId, simulation_id: claimed.simulationId }
    try {
      if (err instanceof CallLost) return
      const isStopping = this.#stopping.signal.aborted
      if (isStopping) return await releaseRun(db, claimed, { dueAt: this.#now, isFree: true })
      const isModel = err instanceof ChatFault
      if (!isModel && !isDatabaseTrouble(err)) log.error({ ...fields, err }, 'a simulation failed')
      if (isModel) log.info({ ...fields, err }, 'a chat model did not answer a simulation')
      const waitMs = WAITS_MS[claimed.attempts - 1]
      // What cannot be written cannot be written the next time either.
      const isFinal = isRowFault(err) || (isModel && err.isRefusal)
      const mayPass = !isFinal && waitMs !== undefined
      if (mayPass) return await releaseRun(db, claimed, { dueAt: new Date(clock.now() + waitMs), isFree: false })
      await settle(db, claimed, { result: notRun(reasonOf(err)), now: this.#now })
    } catch (error) {
      log.info({ ...fields, err: error }, 'a simulation that was not run to its end waits for its lease to end')
    }
  }

  get #now(): Date {
    return new Date(this.#options.clock.now())
  }
}

/** Who speaks: the version as it was when it was asked for. */
function agentOf({
  agent_id,
  agent_key,
  agent_name,
  agent_version_id,
  version_number,
  config,
}: SimulationRow): ResolvedAgent {
  return {
    ...{ agentId: agent_id, agentKey: agent_key, versionId: agent_version_id, versionNumber: version_number },
    ...{ agentName: agent_name, config: agentConfigDefaults(config) },
  }
}

function reasonOf(err: unknown): string {
  if (!(err instanceof ChatFault)) return 'It failed for a reason that is not the agent: the log has it. Try again.'
  return err.isRefusal
    ? "The chat model refused to answer: check the agent version's chat_model, and caller_model."
    : 'The chat model did not answer, several times: try again later.'
}
