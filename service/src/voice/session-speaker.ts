import { isFirstWords } from '../agents/clip-words.ts'
import type { Clip } from '../agents/clips.ts'
import type { ResolvedAgent } from '../agents/resolve.ts'
import type { ModelSetup, RealtimeDriver } from '../platform/realtime/port.ts'
import type { Plan } from './session/plan.ts'
import { clipsFor, holdAudioFor, type PlanFacts, planOf, type SpokenClip } from './session-builder-plan.ts'
import { setupOf } from './session-builder-setup.ts'
import type { StreamedCall } from './streamed-call.ts'
import { toolsOf } from './tools/registry.ts'
import type { Tool } from './tools/tool.ts'

type Deps = {
  call: StreamedCall
  tools: readonly Tool[]
  facts: Omit<PlanFacts, 'agentName' | 'asyncTools' | 'price' | 'fallback'>
  driver: Pick<RealtimeDriver, 'priceOf' | 'modelFor' | 'voiceFor'>
  /** What takes its place when it stays away. */
  fallback?: Pick<RealtimeDriver, 'priceOf' | 'modelFor'> | null | undefined
  now: Date
}

/** Who speaks in a call, and with what: that changes when the call is handed to another agent. */
export class Speaker {
  readonly #deps: Deps
  agent: ResolvedAgent
  /** Those that the agent may use. */
  tools: readonly Tool[]
  /** What the next session of the model is opened with. */
  setup: ModelSetup
  plan: Plan
  /** What it says in the same words in every call, spoken ahead: the first words, which are those of whom the call began with, then the others. */
  clips: readonly SpokenClip[]
  /** What a caller on hold hears; null for our music. */
  holdAudio: Clip | null

  constructor(deps: Deps) {
    this.#deps = deps
    const { call } = deps
    const clips = clipsFor(call.tenant, call.agent.config, call.clips ?? [])
    const speaks = { clips, holdAudio: holdAudioFor(call.agent.config, call.clips ?? []) }
    const { agent, tools, setup, plan, holdAudio } = speakerOf(deps, call.agent, { own: call.tools ?? [], ...speaks })
    this.agent = agent
    this.tools = tools
    this.setup = setup
    this.plan = plan
    this.clips = clips
    this.holdAudio = holdAudio
  }

  /** From now on this agent speaks, with these of the tenant's own tools, and its own clips. The first words stay: they may be heard again. */
  become(agent: ResolvedAgent, { own, clips }: { own: readonly Tool[]; clips: readonly Clip[] }): void {
    const { tenant } = this.#deps.call
    const others = clipsFor(tenant, agent.config, clips).filter((clip) => !isFirstWords(clip))
    const speaks = {
      clips: [...this.clips.filter(isFirstWords), ...others],
      holdAudio: holdAudioFor(agent.config, clips),
    }
    Object.assign(this, speakerOf(this.#deps, agent, { own, ...speaks }))
  }
}

type Speaks = { own: readonly Tool[]; clips: readonly SpokenClip[]; holdAudio: Clip | null }

function speakerOf(
  { call, tools: all, facts, driver, fallback: other, now }: Deps,
  agent: ResolvedAgent,
  { own, clips, holdAudio }: Speaks,
) {
  const { agentName, config } = agent
  const tools = [...toolsOf(all, config.tools), ...own]
  const declared = { agentName, config, tools: tools.map((tool) => tool.declaration) }
  const asyncTools = tools.filter(({ isAsync }) => isAsync).map(({ declaration }) => declaration.name)
  const isDisclosed = clips.some(({ kind }) => kind === 'disclosure')
  const output = facts.secondVoice ? ('text' as const) : ('audio' as const)
  const setup = { ...setupOf(call.tenant, declared, { ...call, now, isDisclosed }), output }
  const price = driver.priceOf?.(setup.model) ?? null
  const fallback = other ? fallbackOf(other, setup) : null
  const plan = planOf(call.tenant, config, {
    ...{ ...facts, agentName, asyncTools, clips, price, fallback, holdMs: holdAudio?.ms },
    speaker: speakerNames(driver, setup),
  })
  return { agent, tools, setup, plan, clips, holdAudio }
}

/** Who speaks when these are asked for: once the default is another one, it is still known who spoke. */
export function speakerNames(
  driver: Pick<RealtimeDriver, 'modelFor' | 'voiceFor'>,
  { model, voice }: Pick<ModelSetup, 'model' | 'voice'>,
): { model: string | null; voice: string | null } {
  return {
    model: driver.modelFor ? driver.modelFor(model) : model,
    voice: driver.voiceFor ? driver.voiceFor(voice) : voice,
  }
}

function fallbackOf(other: Pick<RealtimeDriver, 'priceOf' | 'modelFor'>, { model }: ModelSetup) {
  return { price: other.priceOf?.(model) ?? null, model: other.modelFor ? other.modelFor(model) : model }
}
