import type { Prompts } from '../../agents/prompts.ts'
import type { ResolvedAgent } from '../../agents/resolve.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { ChatFault, type ChatModel } from '../../platform/chat/port.ts'
import type { Db } from '../../platform/db/schema.ts'
import { LeasedWorker } from '../../platform/leased-worker.ts'
import type { Log } from '../../platform/log.ts'
import { isDatabaseTrouble, isRowFault } from '../../records/database-trouble.ts'
import {
  type ClaimedRun,
  claimRunAcrossTenants,
  endRunLeasesAcrossTenants,
  releaseRun,
  renewRun,
} from '../../records/simulations/run-claim-store.ts'
import { addRunUsage, findRunCost, type RunResult, SIMULATIONS_TOPIC } from '../../records/simulations/run-store.ts'
import { findSimulation, type SimulationRow, startSimulation } from '../../records/simulations/simulation-store.ts'
import { agentConfigDefaults } from '../../tenancy/agent-config-defaults.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import type { TenantTools } from '../../voice/tools/tenant-tools.ts'
import type { Tool } from '../../voice/tools/tool.ts'
import { type VoiceDeps, VoiceFault } from './call-by-voice.ts'
import { isDaySpent } from './day-budget.ts'
import { makePatternReasons, type PatternReasons } from './pattern-reasons.ts'
import { ANSWER_WITHIN_MS, CallLost, runScenario } from './run-scenario.ts'
import { notRun, settle } from './settle.ts'

type Options = {
  db: Db
  clock: Clock
  log: Log
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  prompts: Pick<Prompts, 'textFor'>
  tenantTools: Pick<TenantTools, 'of'>
  builtIns: readonly Tool[]
  model: ChatModel
  /** Null where no agent can be called by voice. */
  voice: VoiceDeps | null
  /** No other process is on the database: what was claimed before the start is nobody's. */
  isAlone: boolean
  /** Whether this process cannot keep up with its calls: then it begins no run beside them. */
  isOverloaded: () => boolean
}

/** Runs at a time, in this process; and of one tenant, on all nodes together. */
const LANES = 4
const PER_TENANT = 2
/** Renewed before each question to a model, and each tool: longer than either takes. */
const LEASE_MS = ANSWER_WITHIN_MS + 60_000
/** A run whose model does not answer comes again after these, by its attempts. */
const WAITS_MS = [5_000, 30_000, 120_000, 600_000]
const MAX_ATTEMPTS = WAITS_MS.length + 1

/** Runs the simulations of tenants, each of their runs once: it stands beside the calls, and none waits for it. */
export class SimulationWorker {
  readonly #options: Options
  readonly #patternReasons: PatternReasons
  readonly #worker: LeasedWorker<ClaimedRun>

  constructor(options: Options) {
    const { db, clock } = options
    this.#options = options
    this.#patternReasons = makePatternReasons(clock)
    this.#worker = new LeasedWorker(options, {
      topic: SIMULATIONS_TOPIC,
      endLeases: endRunLeasesAcrossTenants,
      hasRoom: (running) => running < LANES && !options.isOverloaded(),
      claim: async () => {
        const claim = { now: this.#now, perTenant: PER_TENANT, leaseMs: LEASE_MS }
        return (await claimRunAcrossTenants(db, claim)) ?? 'some wait'
      },
      work: (claimed, stopping) => this.#simulate(claimed, stopping),
      failed: (claimed, err, isStopping) => this.#failed(claimed, err, isStopping),
    })
  }

  /** Resolves when it is under way. @throws the database's error. */
  start(): Promise<void> {
    return this.#worker.start()
  }

  /** Begins nothing more; what is under way goes on. */
  stop(): void {
    this.#worker.stop()
  }

  /** Begins nothing more, and gives back what is under way. Never rejects. */
  close(): Promise<void> {
    return this.#worker.close()
  }

  async #simulate(claimed: ClaimedRun, stopping: AbortSignal): Promise<void> {
    const { db, tenants } = this.#options
    const tenant = await tenants.get(claimed.tenantId)
    const simulation = tenant && (await findSimulation(db, claimed.tenantId, claimed.simulationId))
    // What is gone has taken its runs with it.
    if (!simulation) return
    await startSimulation(db, claimed.tenantId, simulation.id, this.#now)
    const result = await this.#resultOf({ claimed, stopping }, tenant, simulation)
    await settle(db, claimed, { result, now: this.#now })
  }

  async #resultOf(
    { claimed, stopping }: { claimed: ClaimedRun; stopping: AbortSignal },
    tenant: TenantRuntime,
    simulation: SimulationRow,
  ): Promise<RunResult> {
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
        signal: stopping,
        spentUsd: await findRunCost(db, claimed),
        keep: async () => {
          if (!(await renewRun(db, claimed, LEASE_MS))) throw new CallLost()
        },
        pay: (usage) => addRunUsage(db, claimed, usage),
      },
    )
  }

  /** Never rejects: what cannot be given back comes again when its lease is over. */
  async #failed(claimed: ClaimedRun, err: unknown, isStopping: boolean): Promise<void> {
    const { db, log, clock } = this.#options
    const fields = { tenant_id: claimed.tenantId, simulation_id: claimed.simulationId }
    try {
      if (err instanceof CallLost) return
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

const VOICE_REFUSED = "The caller's words were refused by the speech model: change what they say."
const VOICE_AWAY =
  "The realtime model, or the caller's voice, was not there, several times: check the agent's model and voice, or try again later."

function reasonOf(err: unknown): string {
  if (err instanceof VoiceFault) return err.isRefusal ? VOICE_REFUSED : VOICE_AWAY
  if (!(err instanceof ChatFault)) return 'It failed for a reason that is not the agent: the log has it. Try again.'
  return err.isRefusal
    ? "The chat model refused to answer: check the agent version's chat_model, and caller_model."
    : 'The chat model did not answer, several times: try again later.'
}
