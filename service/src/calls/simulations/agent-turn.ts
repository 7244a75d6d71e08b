import type { Clock } from '../../kernel/clock.ts'
import type { ChatAnswer, ChatMessage, ChatRequest } from '../../platform/chat/port.ts'
import type { EndedBy } from '../../records/simulations/scenario.ts'
import { storable } from '../../records/storable.ts'
import { NOT_AFTER_THAT, SAY_GOODBYE } from '../../voice/session/tools.ts'
import type { Line } from './line.ts'
import type { SimulatedTools } from './simulated-tools.ts'

/** Asks a model once. @throws ChatFault; CallLost when the run is not ours any more. */
export type AskModel = (request: Pick<ChatRequest, 'model' | 'messages' | 'tools'>) => Promise<ChatAnswer>

export type AgentDeps = {
  clock: Clock
  ask: AskModel
  /** Called before each tool. @throws CallLost when the run is not ours any more. */
  keep(): Promise<void>
  line: Line
  tools: SimulatedTools
  /** What the model is told first of whoever speaks. */
  instructions(agent: SimulatedTools['agent']): string
  /** Whether the call has been long enough. */
  isTooLong(): boolean
}

/** How often a model may call before it waits for the caller. */
const MAX_ROUNDS = 6
/** Of one answer of the model; the others are not among what it is told that it has called. */
const MAX_CALLS = 32
export const MAX_TEXT_CHARS = 8_000

/**
 * Has the agent speak: its model is asked, what it calls is done or would be, and it goes on from what came of it.
 *
 * @param hint told to the model for this turn alone.
 * @returns who has ended the call with it; null when it goes on.
 */
export async function agentTurn(deps: AgentDeps, hint: string | null = null): Promise<EndedBy | null> {
  const { clock, line } = deps
  const startedMs = clock.monotonicMs()
  const words: string[] = []
  let ended: EndedBy | null = null
  let isOver = false
  for (let round = 1; !isOver && round <= MAX_ROUNDS; round += 1) {
    if (round > 1 && deps.isTooLong()) {
      ended = 'limit'
      break
    }
    const answer = await deps.ask(requestOf(deps, hint))
    const calls = answer.calls.slice(0, MAX_CALLS)
    line.messages.push({ role: 'assistant', text: answer.text, calls })
    if (answer.text.trim() !== '') words.push(answer.text.trim())
    const done = await runAll(deps, calls)
    ended = done.ended
    isOver = ended !== null || done.isOver
  }
  // What was to be said behind a silence, or for a greeting, is owed to nobody.
  if (ended === 'agent' && words.length === 0 && hint === null) words.push(await goodbye(deps))
  const text = storable(words.join(' ').slice(0, MAX_TEXT_CHARS))
  if (text !== '') line.agentSaid(text, Math.round(clock.monotonicMs() - startedMs))
  return ended
}

/** Whoever hangs up without a word to what the caller has said is asked for a goodbye, as in a call. */
async function goodbye(deps: AgentDeps): Promise<string> {
  const { text } = await deps.ask({ ...requestOf(deps, SAY_GOODBYE), tools: [] })
  return text.trim()
}

function requestOf({ tools, line, instructions }: AgentDeps, hint: string | null) {
  const messages: ChatMessage[] = [{ role: 'system', text: instructions(tools.agent) }, ...line.messages]
  if (hint !== null) messages.push({ role: 'system', text: hint })
  return { model: tools.agent.config.chat_model || null, messages, tools: tools.declarations() }
}

/** One after the other. It is over when nothing was called of which the model would have something to say. */
async function runAll(
  { line, tools, keep, isTooLong }: AgentDeps,
  calls: ChatAnswer['calls'],
): Promise<{ ended: EndedBy | null; isOver: boolean }> {
  let ended: EndedBy | null = null
  let isOver = true
  let goesOn = false
  for (const { id, name, argumentsText } of calls) {
    if (ended === null && isTooLong()) return { ended: 'limit', isOver: true }
    await keep()
    const end = await tools.run(name, argumentsText)
    const isTooEarly = end.endsCall && goesOn
    line.messages.push({ role: 'tool', callId: id, text: isTooEarly ? NOT_AFTER_THAT : end.output })
    isOver &&= end.isSilent
    ended ??= end.endsCall && !isTooEarly ? 'agent' : end.isTransferred ? 'transfer' : null
    goesOn ||= end.goesOn
  }
  return { ended, isOver }
}
