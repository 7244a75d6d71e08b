import { Type } from 'typebox'
import type { ResolveAgent, ResolvedAgent } from '../agents/resolve.ts'
import { stickyCaller } from '../agents/sticky-caller.ts'
import { signedHeaders } from '../delivery/sign.ts'
import type { Clock } from '../kernel/clock.ts'
import { newId } from '../kernel/ids.ts'
import { nullable } from '../platform/http/schemas.ts'
import { makeBodyCheck } from '../platform/http/validation.ts'
import type { Log } from '../platform/log.ts'
import type { Outbound } from '../platform/outbound/outbound.ts'
import type { CallVerb } from '../platform/telephony/port.ts'
import { jsonSizeFault } from '../tenancy/agent-config-json-schema.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { sayAndGo } from './hang-up.ts'

/** What the tenant's own address says of a call that comes in. Null is what it leaves to the route. */
export type Decision =
  | { reject: string }
  | { reject: null; agentKey: string | null; greeting: string | null; variables: Record<string, unknown> }

type Call = { callSid: string; from: string; to: string }

/**
 * Asks the address of a tenant's document, if it names one, what is to become of a call. Never rejects: an answer that is late,
 * or none, or not of this form leaves the call to its route.
 */
export type DecideInbound = (tenant: TenantRuntime, call: Call) => Promise<Decision>

const NOTHING_DECIDED: Decision = { reject: null, agentKey: null, greeting: null, variables: {} }
const MAX_ANSWER_BYTES = 65_536
const MAX_VARIABLES_BYTES = 16_384
const MAX_VARIABLES_DEPTH = 8

const Answer = Type.Object({
  agent_key: Type.Optional(nullable(Type.String({ maxLength: 63 }))),
  greeting: Type.Optional(nullable(Type.String({ maxLength: 2_000 }))),
  variables: Type.Optional(nullable(Type.Unsafe<Record<string, unknown>>({ type: 'object' }))),
  reject: Type.Optional(nullable(Type.String({ maxLength: 1_000 }))),
})

type Deps = { clock: Clock; log: Pick<Log, 'warn'>; ask: Outbound['request'] }

export function makeDecideInbound({ clock, log, ask }: Deps): DecideInbound {
  const faultOf = makeBodyCheck(Answer)

  /** @throws Error for whatever is no answer. */
  async function decide(
    tenant: TenantRuntime,
    url: string,
    asked: { body: string; timeoutMs: number },
  ): Promise<Decision> {
    const headers = { 'content-type': 'application/json', ...signed(tenant, asked.body, clock) }
    const answer = await ask({ url, method: 'POST', headers, ...asked, maxAnswerBytes: MAX_ANSWER_BYTES })
    if (answer.status !== 200) throw new Error(`The address answered ${answer.status}.`)
    if (!answer.isWhole) throw new Error('The answer is too long.')
    const said: unknown = JSON.parse(answer.body.toString())
    const fault = faultOf(said)
    if (fault) throw fault
    return decisionOf(said as Type.Static<typeof Answer>)
  }

  return async (tenant, { callSid, from, to }) => {
    const { tenant_id, org_id, inbound_decision } = tenant
    if (!inbound_decision) return NOTHING_DECIDED
    const { url, timeout_ms: timeoutMs } = inbound_decision
    const body = JSON.stringify({ tenant_id, call_sid: callSid, from, to, org_id, metadata: {} })
    try {
      return await decide(tenant, url, { body, timeoutMs })
    } catch (err) {
      log.warn({ err, tenant_id, call_sid: callSid }, 'nothing was decided about a call: its route takes it')
      return NOTHING_DECIDED
    }
  }
}

/** The carrier says the sentence, in this language if it is known; without one the caller hears that the line is busy. */
export function rejection(sentence: string, language: string | null): CallVerb[] {
  if (sentence === '') return [{ type: 'reject' }, { type: 'hangup' }]
  return sayAndGo({ text: sentence, ...(language !== null && { language }) }, null)
}

/** The agent that was decided on, if the tenant has it, else that of the route; without one that of the tenant's document. */
export async function decidedAgent(
  { resolveAgent, log }: { resolveAgent: ResolveAgent; log: Pick<Log, 'warn'> },
  tenant: TenantRuntime,
  call: Call,
  { decided, routed }: { decided: string | null; routed: string | null },
): Promise<ResolvedAgent | null> {
  const caller = stickyCaller(call)
  if (decided !== null) {
    const agent = await resolveAgent(tenant, { agentKey: decided, caller })
    if (agent?.agentKey === decided) return agent
    const fields = { tenant_id: tenant.tenant_id, call_sid: call.callSid, agent_key: decided }
    log.warn(fields, 'the agent that was decided on does not speak: that of the route does')
  }
  return resolveAgent(tenant, routed === null ? null : { agentKey: routed, caller })
}

function signed({ webhook }: TenantRuntime, body: string, clock: Clock): Record<string, string> {
  const secrets = [webhook?.secret, webhook?.secret_previous].filter((secret) => typeof secret === 'string')
  const id = `decision_${newId<string>(clock.now())}`
  return signedHeaders(secrets, { id, timestampSeconds: Math.floor(clock.now() / 1_000), body })
}

/** @throws Error for variables that are too many to be kept. */
function decisionOf(said: Type.Static<typeof Answer>): Decision {
  const { agent_key: agentKey = null, greeting = null, reject = null } = said
  if (reject !== null) return { reject: reject.trim() }
  const variables = said.variables ?? {}
  const fault = jsonSizeFault(variables, MAX_VARIABLES_BYTES, MAX_VARIABLES_DEPTH)
  if (fault) throw new Error(`The variables of the answer: ${fault}`)
  return { reject, agentKey, greeting: greeting?.trim() || null, variables }
}
