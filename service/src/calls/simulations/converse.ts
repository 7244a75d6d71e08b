import type { CallerStep, EndedBy, Scenario } from '../../records/simulations/scenario.ts'
import { GREET } from '../../voice/session/picking-up.ts'
import { ASK_IF_THERE, GOODBYE, STAGES } from '../../voice/session/silence.ts'
import { type AgentDeps, agentTurn } from './agent-turn.ts'
import { type PlayedCaller, playCaller } from './played-caller.ts'

export type ConverseDeps = AgentDeps & {
  /** What the agent says first as it stands; empty where it words that itself. */
  greeting: string
  /** Null: the agent's own. */
  callerModel: string | null
}

export const MAX_PLAYED_TURNS = 10

/** Lets a caller and an agent talk until one of them ends it. @throws what asking a model throws. */
export async function converse(deps: ConverseDeps, { caller }: Scenario): Promise<EndedBy> {
  const { persona, goal = null, max_turns: maxTurns = MAX_PLAYED_TURNS, steps = [], stays = false } = caller
  const greeted = await greet(deps)
  if (greeted !== null) return greeted
  if (persona !== undefined) return withPlayedCaller(deps, { persona, goal, maxTurns })
  const silences = Array.from({ length: stays ? STAGES : 0 }, (): CallerStep => ({ silence: true }))
  return withSteps(deps, [...steps, ...silences])
}

async function greet(deps: ConverseDeps): Promise<EndedBy | null> {
  if (deps.greeting === '') return agentTurn(deps, GREET)
  deps.line.agentSaysExactly(deps.greeting)
  return null
}

async function withSteps(deps: ConverseDeps, steps: CallerStep[]): Promise<EndedBy> {
  let silences = 0
  for (const step of steps) {
    if (deps.isTooLong()) return 'limit'
    if (step.hang_up) return 'caller'
    silences = step.silence ? silences + 1 : 0
    const ended = step.silence ? await silence(deps, silences) : await heard(deps, step)
    if (ended !== null) return ended
  }
  return 'caller'
}

function heard(deps: ConverseDeps, { say, press }: CallerStep): Promise<EndedBy | null> {
  if (say !== undefined) deps.line.callerSays(say)
  if (press !== undefined) deps.line.note(`The caller pressed these keys: ${press}`)
  return agentTurn(deps)
}

/** A third of the silence that ends a call: the agent asks, asks again, says goodbye and hangs up. */
async function silence(deps: ConverseDeps, stage: number): Promise<EndedBy | null> {
  const { idle } = deps.tools.agent.config
  const isLast = stage >= STAGES
  const text = isLast ? idle.goodbye : idle.prompts[stage - 1]
  let ended: EndedBy | null = null
  if (text) deps.line.agentSaysExactly(text)
  else ended = await agentTurn(deps, isLast ? GOODBYE : ASK_IF_THERE)
  return isLast ? 'agent' : ended
}

async function withPlayedCaller(deps: ConverseDeps, played: Omit<PlayedCaller, 'model'> & { maxTurns: number }) {
  const caller = { ...played, model: deps.callerModel ?? (deps.tools.agent.config.chat_model || null) }
  for (let turn = 1; turn <= played.maxTurns && !deps.isTooLong(); turn += 1) {
    const { text, hangsUp } = await playCaller(deps, caller)
    if (text === '') return 'caller'
    deps.line.callerSays(text)
    const ended = await agentTurn(deps)
    if (ended !== null || hangsUp) return ended ?? 'caller'
  }
  return 'limit'
}
