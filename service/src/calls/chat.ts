import type { ResolveAgent, ResolvedAgent } from '../agents/resolve.ts'
import { AtATime } from '../kernel/at-a-time.ts'
import { type Clock, withDeadline } from '../kernel/clock.ts'
import { AppError, notSetUp } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import { objectIn } from '../kernel/json-object.ts'
import { ChatFault, type ChatFunctionCall, type ChatMessage, type ChatModel } from '../platform/chat/port.ts'
import type { Log } from '../platform/log.ts'
import type { ToolDeclaration } from '../platform/realtime/port.ts'
import { knownTenant } from '../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { greetingOf, instructionsOf } from '../voice/session-builder-setup.ts'
import { type NamedAgent, namedAgent } from './named-agent.ts'

/** What was said so far, as in a transcript. */
export type Said = { role: 'caller' | 'agent'; text: string }

/** What the agent says next, and the functions that it called on the way there. */
export type ChatReply = { text: string; functionCalls: { name: string; arguments: Record<string, unknown> }[] }

/** Agents tried in text: nothing of it is kept, and nothing that they call is done. */
export type Chats = {
  /**
   * What the agent says next. Before anything was said that is its greeting.
   *
   * @throws AppError `invalid_request` unless exactly one agent is named, and the tenant has it; `unavailable` without a chat
   * model, `upstream_failed` when it refuses, or does not answer within 30 s, `rate_limited` while too many wait.
   */
  reply(tenantId: TenantId, choice: NamedAgent, said: Said[]): Promise<ChatReply>
}

type Deps = {
  clock: Clock
  log: Pick<Log, 'warn'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  resolveAgent: ResolveAgent
  prompts: { textFor(tenant: TenantRuntime): Promise<string | null> }
  /** What an agent of a tenant may call, by the names in its config. */
  toolsFor(tenant: TenantRuntime, names: readonly string[]): Promise<ToolDeclaration[]>
  /** Null while none is configured. */
  model: ChatModel | null
}

/** Of one message: what is answered can be sent back. */
export const MAX_TEXT_CHARS = 8_000
const REPLY_WITHIN_MS = 30_000
/** Chats at a time: each holds messages of 100,000 characters, beside calls that are live. */
const MAX_CHATS = 50
const MAX_CHATS_OF_TENANT = 8
const TOO_MANY = 'Too many chats wait for an answer: send it again once one has come.'
/** Of what is sent again it makes nothing else. */
const REFUSED = "The chat model refused to answer: check the agent version's chat_model."
/** How often a model may call before it says something. */
const MAX_ROUNDS = 3
/** Stands in for the result of every function: the model goes on as in a call, and nothing was done. */
const NOT_DONE = JSON.stringify({
  ok: true,
  note: 'This is a trial in text: nothing was done. Go on as if it had been.',
})

export function makeChats(deps: Deps): Chats {
  const { clock, log, tenants, resolveAgent, prompts } = deps
  const atATime = new AtATime({ ofTenant: MAX_CHATS_OF_TENANT, inAll: MAX_CHATS, tooMany: TOO_MANY })

  async function instructed(tenant: TenantRuntime, agent: ResolvedAgent): Promise<ChatMessage> {
    const facts = { direction: 'browser' as const, from: 'browser', to: agent.agentKey ?? agent.agentName, orgId: null }
    const prompt = await prompts.textFor(tenant)
    return { role: 'system', text: instructionsOf(tenant, agent, { ...facts, now: new Date(clock.now()), prompt }) }
  }

  return {
    async reply(tenantId, choice, said) {
      const tenant = await knownTenant(tenants, tenantId)
      const agent = await namedAgent(resolveAgent, tenant, choice)
      const greeting = greetingOf(tenant, agent.config)
      if (said.length === 0 && greeting !== '') return { text: greeting, functionCalls: [] }
      if (!deps.model)
        throw notSetUp(
          "No chat model is configured: set OPENAI_API_KEY, and OPENAI_BASE_URL where the realtime model is not OpenAI's.",
        )
      const messages = [
        await instructed(tenant, agent),
        ...said.filter(({ text }) => text.trim() !== '').map(messageOf),
      ]
      const tools = await deps.toolsFor(tenant, agent.config.tools)
      const asked = { model: agent.config.chat_model || null, messages, tools }
      const talked = () =>
        withDeadline(clock, REPLY_WITHIN_MS, (signal) => talk(deps.model as ChatModel, { ...asked, signal }))
      return atATime.run(tenantId, talked).catch((err: unknown) => {
        if (!(err instanceof ChatFault)) throw err
        log.warn({ err, tenant_id: tenantId }, 'a chat model failed')
        throw new AppError('upstream_failed', err.isRefusal ? REFUSED : 'The chat model did not answer. Try again.', {
          cause: err,
        })
      })
    },
  }
}

function messageOf({ role, text }: Said): ChatMessage {
  return { role: role === 'caller' ? 'user' : 'assistant', text }
}

type Asked = { model: string | null; messages: ChatMessage[]; tools: ToolDeclaration[]; signal: AbortSignal }

/** Asks until something is said. */
async function talk(model: ChatModel, { messages, ...asked }: Asked): Promise<ChatReply> {
  const functionCalls: ChatReply['functionCalls'] = []
  let told = messages
  for (let round = 1; ; round += 1) {
    const { text, calls } = await model.complete({ ...asked, messages: told })
    functionCalls.push(...calls.map(callOf))
    if (text.trim() !== '' || calls.length === 0 || round === MAX_ROUNDS)
      return { text: text.slice(0, MAX_TEXT_CHARS).toWellFormed(), functionCalls }
    const results = calls.map(({ id }): ChatMessage => ({ role: 'tool', callId: id, text: NOT_DONE }))
    told = [...told, { role: 'assistant', text, calls }, ...results]
  }
}

/** Arguments that are no object are told as they came. */
function callOf({ name, argumentsText }: ChatFunctionCall): ChatReply['functionCalls'][number] {
  return { name, arguments: objectIn(argumentsText) ?? { unreadable: argumentsText } }
}
