import type { ResolveAgent, ResolvedAgent } from '../agents/resolve.ts'
import { type Clock, waitAtMost } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { shownNumber } from '../kernel/phone.ts'
import { againWhenRefused } from '../platform/db/again.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { CallVerb, SignedRequest } from '../platform/telephony/port.ts'
import { REJECTED } from '../records/call-values.ts'
import type { OpenedSession, Sessions } from '../records/sessions.ts'
import { dayRefusal, type SpentToday, spentToday } from '../records/spent-today.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { LiveCapacity } from '../voice/live-capacity.ts'
import type { StreamGrant, StreamTokens } from '../voice/stream-token.ts'
import { askAgain } from './ask-again.ts'
import { sayAndGo } from './hang-up.ts'
import { type DecideInbound, decidedAgent, rejection } from './inbound-decision.ts'
import { refusalVerbs } from './refusal-verbs.ts'
import { type Refusal, refusalOf } from './refusals.ts'
import type { RefusedCalls } from './refused-calls.ts'
import { type CallAddresses, streamVerbs } from './stream-verbs.ts'
import type { RefusedCall } from './write-refusal.ts'

/** A call that comes in, as its carrier tells of it. */
export type IncomingCall = {
  /** Empty when there is none. */
  callSid: string
  accountSid: string
  /** A number by its one spelling; what is none as it came: `anonymous` and `sip:…` occur. */
  from: string
  to: string
  /** How often in a row its carrier was told to ask again. */
  again: number
  signed: SignedRequest
}

/** One request to take a call of a tenant's: whether it is too late, and who is to speak, as far as that is known. */
export type Taking = {
  tenant: TenantRuntime
  call: IncomingCall
  attempt: { isLate: boolean; agentKey: string | null; agent: ResolvedAgent | null }
}

/** Takes calls that come in for tenants, or does not. */
export type TakingCalls = {
  /** What the carrier is to do; `agentKey` is whom the number leads to. Rejects for nothing. */
  take(taking: Taking, agentKey: string | null): Promise<CallVerb[]>
  /** What a caller hears whose call is not taken, which is written down. */
  refuse(taking: Taking, why: Refusal): CallVerb[]
}

/** Whoever is turned away is told so in any case, and not rung elsewhere because a database was slow to say in which language. */
const LANGUAGE_WITHIN_MS = 500
/** What is said to a caller whom no agent can talk to. */
export const NOT_IN_SERVICE = 'This number is not in service. Goodbye.'

export type TakeDeps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn' | 'error'>
  resolveAgent: ResolveAgent
  /** What the tenant's own address says of the call. */
  decide: DecideInbound
  sessions: Sessions
  tokens: StreamTokens
  capacity: LiveCapacity
  /** Told of calls of a tenant's that are not taken. */
  refused: Pick<RefusedCalls, 'note' | 'taken' | 'endEntered'>
  /** Whether there is a model that could talk. */
  hasModel: boolean
  /** Whether another node takes calls. */
  hasHeir: () => Promise<boolean>
  /** Whether there can be no routes here: then the agent of a tenant's document answers its number. */
  hasNoRoutes: boolean
  /** The public addresses of this service. */
  addresses: () => CallAddresses & { incoming: string }
}

/** Who speaks in a call, and what else was decided about it. */
type Decided = {
  agent: ResolvedAgent
  greeting: string | null
  variables: Record<string, unknown>
  spentToday: SpentToday | null
}

export function makeTakingCalls(deps: TakeDeps): TakingCalls {
  const { log, addresses } = deps

  function refuse(taking: Taking, why: Refusal): CallVerb[] {
    const { tenant, call } = taking
    log.warn({ tenant_id: tenant.tenant_id, call_sid: call.callSid, why }, 'a call was not taken')
    deps.refused.note(tenant, refusedCall(taking, why))
    return refusalOfCall(taking, why, addresses().resume)
  }

  return {
    refuse,
    async take(taking, agentKey) {
      const fields = { tenant_id: taking.tenant.tenant_id, call_sid: taking.call.callSid }
      if (agentKey === null && !deps.hasNoRoutes) {
        log.warn(fields, 'a call to a number without a route')
        return sayAndGo(NOT_IN_SERVICE, null)
      }
      taking.attempt.agentKey = agentKey
      if (!deps.hasModel) return refuse(taking, 'no_model')
      try {
        const taken = await findAgentAndRoom(deps, taking)
        return typeof taken === 'string' ? refuse(taking, taken) : taken
      } catch (err) {
        if (isTenantBusy(err)) return refuse(taking, 'tenant_full')
        log.error({ err, ...fields }, 'a call could not be taken')
        return refuse(taking, 'internal')
      }
    },
  }
}

/** What the agent speaks that would have had the call: a tenant writes its own sentences in that, too. Null where it is not known. */
async function languageOf(deps: TakeDeps, { tenant, call, attempt }: Taking): Promise<string | null> {
  const choice = { decided: null, routed: attempt.agentKey }
  const agent = await decidedAgent(deps, tenant, call, choice).catch(() => null)
  return agent?.config.speech.language ?? null
}

/** @returns why the call is not taken, if it is not. */
async function findAgentAndRoom(deps: TakeDeps, taking: Taking): Promise<CallVerb[] | Refusal> {
  const { db, clock, log, capacity } = deps
  const { tenant, call, attempt } = taking
  const { callSid } = call
  // Asked before the tenant is, who would be asked again by the other node.
  const elsewhere = await askedElsewhere(deps, taking)
  if (elsewhere) return elsewhere
  const decision = await deps.decide(tenant, call)
  if (decision.reject !== null) {
    log.warn({ tenant_id: tenant.tenant_id, call_sid: callSid, why: REJECTED }, 'a call was not taken')
    deps.refused.note(tenant, { ...refusedCall(taking, REJECTED), said: decision.reject })
    return rejection(decision.reject, await waitAtMost(clock, languageOf(deps, taking), LANGUAGE_WITHIN_MS))
  }
  const choice = { decided: decision.agentKey, routed: attempt.agentKey }
  const agent = await decidedAgent(deps, tenant, call, choice)
  if (!agent) return 'no_agent'
  attempt.agent = agent
  // Whoever was told meanwhile that the call is not taken goes elsewhere with it.
  if (attempt.isLate) return []
  const spent = await spentToday(db, tenant, { now: new Date(clock.now()), exceptCallSid: callSid })
  const noDay = dayRefusal(tenant, spent)
  if (noDay) return noDay
  const { noRoom, giveBack } = capacity.reserve(roomFor(tenant, callSid))
  if (noRoom) return (await askedElsewhere(deps, taking)) ?? noRoom
  try {
    const opened = await open(deps, taking, { agent, ...decision, spentToday: spent })
    if (!opened.isOver && !attempt.isLate) {
      deps.refused.taken(tenant, callSid)
      return streamVerbs(deps, grantOf(tenant, callSid, opened))
    }
    giveBack()
    return await notGoneOn(deps, taking, opened)
  } catch (error) {
    giveBack()
    throw error
  }
}

/** Null: this node takes it, or no other one does, or the carrier was told so often enough. */
async function askedElsewhere(deps: TakeDeps, { tenant, call }: Taking): Promise<CallVerb[] | null> {
  const isStopping = deps.capacity.ask(roomFor(tenant, call.callSid)) === 'stopping'
  return isStopping && (await deps.hasHeir()) ? askAgain(deps.addresses().incoming, call.again) : null
}

function open({ sessions }: TakeDeps, { tenant, call }: Taking, decided: Decided): Promise<OpenedSession> {
  const { callSid, from, to } = call
  const { agent, greeting, variables: metadata, spentToday: spent } = decided
  const known = { direction: 'inbound' as const, orgId: null, metadata, greeting, spentToday: spent }
  return againWhenRefused(() => sessions.open(tenant, { callSid, from, to, ...known, agent }))
}

/** A call that is over, or too late: whoever was told that it is not taken hears that again, should the carrier not have got it. */
async function notGoneOn({ refused, addresses }: TakeDeps, taking: Taking, opened: OpenedSession): Promise<CallVerb[]> {
  if (opened.isNew) await refused.endEntered(taking.tenant, refusedCall(taking, 'too_slow'))
  const why = refusalOf(opened.errorCode)
  return why === null ? [{ type: 'hangup' }] : refusalOfCall(taking, why, addresses().resume)
}

function refusalOfCall({ tenant, call, attempt: { agent } }: Taking, why: Refusal, resumeUrl: string): CallVerb[] {
  const callerId = shownNumber({ direction: 'inbound', ...call })
  return refusalVerbs(tenant, { why, language: agent?.config.speech.language ?? null, callerId, resumeUrl })
}

function refusedCall({ call: { callSid, from, to }, attempt: { agentKey, agent } }: Taking, why: Refusal): RefusedCall {
  return { callSid, from, to, why, agentKey, agent }
}

function grantOf({ tenant_id: tenant }: TenantRuntime, callSid: string, opened: OpenedSession): StreamGrant {
  const { epoch, agentVersionId: agent_version_id } = opened
  return { tenant, call_sid: callSid, agent_version_id, direction: 'inbound', epoch }
}

/** Whether other processes have the calls that the tenant may have at once. */
function isTenantBusy(err: unknown): boolean {
  return err instanceof AppError && err.code === 'tenant_busy'
}

function roomFor({ tenant_id: tenantId, limits }: TenantRuntime, callSid: string) {
  return { tenantId, callSid, maxConcurrentCalls: limits.max_concurrent_calls }
}
