import type { ResolveAgent } from '../../agents/resolve.ts'
import { AtATime } from '../../kernel/at-a-time.ts'
import { type Clock, withDeadline } from '../../kernel/clock.ts'
import { AppError, invalidRequest } from '../../kernel/errors.ts'
import { newId, type TenantId } from '../../kernel/ids.ts'
import { OutboundFault } from '../../platform/outbound/fault.ts'
import type { SessionId } from '../../records/call-values.ts'
import { knownTenant } from '../../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { isBuiltIn } from '../../tenancy/tenant-tools.ts'
import type { Asked, AskingTool } from './asking-tool.ts'
import { MAX_ARGUMENT_CHARS } from './run.ts'
import type { TenantTools } from './tenant-tools.ts'
import { type CallFacts, deadlineOf, ToolRefusal } from './tool.ts'
import { textOf } from './tool-answer.ts'

/** One try of a tool: what was asked, what came, what a model would be told, and how long it took in ms. */
export type ToolTrial = { asked: Asked; durationMs: number }

/** A tenant's own tools, tried without a call. What they do is done. */
export type ToolTrials = {
  /**
   * Does what a call of the tool by a model does.
   *
   * @param agentKey tries it as that agent may; null for whoever.
   * @throws AppError `not_found` for a name that is none of the tenant's tools; `invalid_request` for arguments that do not fit,
   * and for an agent that there is not, or that may not use it; `upstream_failed` when there was no answer, or one of 5xx, and when a
   * server does not tell its tools; `rate_limited` while too many are tried.
   */
  run(tenantId: TenantId, name: string, given: Given): Promise<ToolTrial>
}

type Given = { args: Record<string, unknown>; agentKey: string | null }

type Deps = {
  clock: Clock
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  resolveAgent: ResolveAgent
  tools: Pick<TenantTools, 'of' | 'find'>
}

const MAX_TOLD_CHARS = 300
/** Trials at a time: each holds two connections for as long as its address is silent, and calls need theirs. */
const MAX_TRIALS = 50
const MAX_TRIALS_OF_TENANT = 8
const TOO_MANY = 'Too many tools are tried at a time: send it again once an answer has come.'
/** Who tries a tool as no agent. */
const NOBODY = 'test'

const BUILT_IN =
  'This is a built-in tool, and those cannot be tried: POST /api/v1/chats shows whether an agent calls it.'
const NOT_ITS_TOOL = 'is an agent that may not use it: the tools of its published version do not name it'

export function makeToolTrials({ clock, tenants, resolveAgent, tools }: Deps): ToolTrials {
  const atATime = new AtATime({ ofTenant: MAX_TRIALS_OF_TENANT, inAll: MAX_TRIALS, tooMany: TOO_MANY })

  /** The tool, and the name of who tries it. */
  async function toolOf(tenant: TenantRuntime, name: string, agentKey: string | null): Promise<[AskingTool, string]> {
    const tool = await tools.find(tenant, name)
    if (!tool) throw new AppError('not_found', isBuiltIn(name) ? BUILT_IN : 'None of your tools has this name.')
    if (agentKey === null) return [tool, NOBODY]
    const agent = await resolveAgent(tenant, { agentKey })
    if (agent?.agentKey !== agentKey) throw refusedAgent('is not the key of an agent with a published version')
    const own = await tools.of(tenant, agent.config.tools)
    if (!own.some(({ declaration }) => declaration.name === name)) throw refusedAgent(NOT_ITS_TOOL)
    return [tool, agent.agentName]
  }

  async function tried(tenantId: TenantId, name: string, { args, agentKey }: Given): Promise<ToolTrial> {
    const tenant = await knownTenant(tenants, tenantId)
    const [tool, agentName] = await toolOf(tenant, name, agentKey)
    if (JSON.stringify(args).length > MAX_ARGUMENT_CHARS) refused(new ToolRefusal('they are too long'))
    const startedMs = clock.monotonicMs()
    const asked = await withDeadline(clock, deadlineOf(tool), (signal) =>
      tool.ask(args, trialCall(tenant, { agentName, clock }), signal),
    ).catch(refused)
    expectAnswer(asked)
    return { asked, durationMs: Math.round(clock.monotonicMs() - startedMs) }
  }

  return { run: (tenantId, name, given) => atATime.run(tenantId, () => tried(tenantId, name, given)) }
}

/** What stands in for the call of a caller. */
function trialCall(tenant: TenantRuntime, { agentName, clock }: { agentName: string; clock: Clock }): CallFacts {
  const sessionId = newId<SessionId>(clock.now())
  const call = { callSid: 'test', streamSid: 'test', agentName, customerPhone: 'test', callId: 'test' }
  return { tenant, sessionId, ...call }
}

/** @throws AppError `invalid_request` for what the tool refuses, and all else as it is. */
function refused(error: unknown): never {
  if (!(error instanceof ToolRefusal)) throw error
  throw invalidRequest([{ path: '/body/arguments', message: `do not fit: ${error.message}` }])
}

function refusedAgent(message: string): AppError {
  return invalidRequest([{ path: '/body/agent_key', message }])
}

/** @throws AppError `upstream_failed` */
function expectAnswer({ heard }: Asked): void {
  if (heard instanceof OutboundFault) {
    if (heard.kind === 'forbidden') throw new AppError('invalid_request', heard.message)
    throw new AppError('upstream_failed', `The tool failed: ${heard.message}`, { cause: heard })
  }
  if (heard.status < 500) return
  const said = textOf(heard.body, heard.headers['content-type']).slice(0, MAX_TOLD_CHARS).toWellFormed()
  throw new AppError('upstream_failed', `The tool's address answered ${heard.status}${said === '' ? '.' : `: ${said}`}`)
}
