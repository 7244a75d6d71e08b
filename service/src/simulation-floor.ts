import type { Clips } from './agents/clips.ts'
import type { Prompts } from './agents/prompts.ts'
import type { ResolveAgent } from './agents/resolve.ts'
import { makeSimulatedBuiltIns } from './calls/simulations/built-ins.ts'
import type { VoiceDeps } from './calls/simulations/call-by-voice.ts'
import { simulationRoutes } from './calls/simulations/simulation-routes.ts'
import { SimulationWorker } from './calls/simulations/simulation-worker.ts'
import { makeSimulations } from './calls/simulations/simulations.ts'
import type { Deps } from './deps.ts'
import type { TenantId } from './kernel/ids.ts'
import type { TenantRuntime } from './tenancy/tenant-runtime.ts'
import type { Voice } from './voice-floor.ts'

type Needs = {
  clips: Pick<Clips, 'of'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  resolveAgent: ResolveAgent
  prompts: Pick<Prompts, 'textFor'>
}

/** Wires the simulations: the routes, and whoever runs what was asked for. */
export function makeSimulating(
  deps: Deps,
  { tenants, resolveAgent, prompts, clips }: Needs,
  { tenantTools, isOverloaded }: Pick<Voice, 'tenantTools' | 'isOverloaded'>,
) {
  const { clock, log, chat: model, database } = deps
  const { db } = database
  const voice = voiceOf(deps, clips)
  const isAlone = database.kind !== 'server'
  const builtIns = makeSimulatedBuiltIns({ clock, resolveAgent, tenantTools, clips })
  // Where nothing is kept, or nobody answers, nothing can be asked for.
  const worker =
    model === null || database.kind === 'memory'
      ? null
      : new SimulationWorker({
          ...{ db, clock, log, tenants, prompts, tenantTools, builtIns, model, voice, isAlone, isOverloaded },
        })
  return {
    /** To be registered behind `tenantGuard`. */
    tenantRoutes: simulationRoutes(
      makeSimulations({ db, clock, tenants, resolveAgent, hasModel: model !== null, hasVoice: voice !== null }),
    ),
    start: async () => worker?.start(),
    /** Begins no run any more. */
    stop: () => worker?.stop(),
    close: async () => worker?.close(),
  }
}

const MS_PER_MINUTE = 60_000

/** What agents are called with by voice: null where one of it is not there. */
function voiceOf({ config, model, fallbackModel, secondVoice, speech }: Deps, clips: Needs['clips']): VoiceDeps | null {
  if (model === null || speech === null) return null
  return {
    ...{ realtime: model, fallback: fallbackModel ?? null, secondVoice, speech },
    clipsOf: (tenant, agentConfig) => clips.of(tenant, agentConfig),
    modelSessionMs: config.modelSessionMaxMinutes * MS_PER_MINUTE,
  }
}
