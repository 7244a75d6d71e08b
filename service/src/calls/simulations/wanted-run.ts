import type { ResolvedAgent } from '../../agents/resolve.ts'
import type { ChatUsage } from '../../platform/chat/port.ts'
import type { Scenario } from '../../records/simulations/scenario.ts'
import type { SimulationRow } from '../../records/simulations/simulation-store.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import type { Tool } from '../../voice/tools/tool.ts'

/** One call to be simulated. */
export type WantedRun = {
  tenant: TenantRuntime
  simulation: SimulationRow
  scenario: Scenario
  agent: ResolvedAgent
  /** The agent's own among the tenant's tools. */
  own: readonly Tool[]
  /** The tenant's stored prompt, its variables open. */
  prompt: string | null
  /** Names this run of it, unlike any other. */
  name: string
  /** Ends it early: what it throws is thrown. */
  signal: AbortSignal
  /** What it has cost when it was begun before, in USD: all of it is one call's. */
  spentUsd: number
  /** Called before each question to a model, and each tool. @throws CallLost when the run is not ours any more. */
  keep(): Promise<void>
  /** Writes down what an answer took, as soon as it is there; null where its provider does not tell. */
  pay(usage: ChatUsage | null): Promise<void>
}
