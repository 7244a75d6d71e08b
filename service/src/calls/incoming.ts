import { RecentAnswers } from '../agents/recent-answers.ts'
import type { ResolveAgent, ResolvedAgent } from '../agents/resolve.ts'
import type { Clock } from '../kernel/clock.ts'
import { AppError, invalidRequest } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import { isPhoneNumber } from '../kernel/phone.ts'
import { againWhenRefused } from '../platform/db/again.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { CallVerb, SignedRequest } from '../platform/telephony/port.ts'
import { DEFAULT_CARRIER, type TelephonyProvider } from '../platform/telephony/registry.ts'
import type { OpenedSession, Sessions } from '../records/sessions.ts'
import { dayRefusal, type SpentToday, spentToday } from '../records/spent-today.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { LiveCapacity } from '../voice/live-capacity.ts'
import type { StreamGrant, StreamTokens } from '../voice/stream-token.ts'
import { withinTime } from './answer-time.ts'
import { askAgain } from './ask-again.ts'
import { sayAndGo } from './hang-up.ts'
import { type DecideInbound, decidedAgent, rejection } from './inbound-decision.ts'
import type { CallbackSignatures } from './incoming-signature.ts'
import { type DialledNumber, findDialledAcrossTenants } from './incoming-store.ts'
import { NOT_TAKEN, type Refusal } from './refusals.ts'
import type { RefusedCalls } from './refused-calls.ts'
import { type CallAddresses, streamVerbs } from './stream-verbs.ts'

/** A call that comes in, as its carrier tells of it. */
export type IncomingCall = {
  /** Empty when there is none. */
  callSid: string
  accountSid: string
  /** As it came: `anonymous` and `sip:…` occur. */
  from: string
  to: string
  /** How often in a row its carrier was told to ask again. */
  again: number
  signed: SignedRequest
}

/** What a carrier is to do, and which one: each has a language of its own. */
export type CarrierAnswer = { provider: TelephonyProvider; verbs: CallVerb[] }

/** What is said to a caller whom no agent can talk to. */
const NOT_IN_SERVICE = 'This number is not in service. Goodbye.'
const NO_ROOM = 'All our lines are busy at the moment. Please call again later. Goodbye.'
const SORRY = 'We are sorry, your call cannot be taken at the moment. Please call again later. Goodbye.'

/** What a carrier never hears. */
const REFUSALS = new Set<AppError['code']>(['unauthorized', 'invalid_request'])

/** Answers calls that come in. */
export type Incoming = {
  /**
   * What the carrier shall do with the call: connect it to an agent by a stream, or, where no agent can talk, connect the
   * tenant's fallback number, or say a sentence and hang up. Where only this node takes no calls any more, and another one does,
   * the carrier is to ask again, five times at most. The same call again gets the same session and a new token.
   *
   * @throws AppError `unauthorized` when the request is not the carrier's, `invalid_request` when it names no call, and for
   * nothing else: to a caller an error would be a tone.
   */
  answer(call: IncomingCall): Promise<CarrierAnswer>
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn' | 'error'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  signatures: CallbackSignatures
  resolveAgent: ResolveAgent
  /** What the tenant's own address says of the call. */
  decide: DecideInbound
  sessions: Sessions
  tokens: StreamTokens
  capacity: LiveCapacity
  /** Told of calls of a tenant's that are not taken. */
  refused: Pick<RefusedCalls, 'note'>
  /** Whether there is a model that could talk. */
  hasModel: boolean
  /** Whether another node takes calls. */
  hasHeir: () => Promise<boolean>
  /** Whether there can be no routes here: then the agent of a tenant's document answers its number. */
  hasNoRoutes: boolean
  /** The public addresses of this service. */
  addresses: () => CallAddresses & { incoming: string }
}

export function makeIncoming(deps: Deps): Incoming {
  const { db, clock, log, tenants, signatures, sessions, capacity } = deps
  const dialled = new RecentAnswers<DialledNumber>({ clock })

  function lookUp(number: string): Promise<DialledNumber | null> {
    if (!isPhoneNumber(number)) return Promise.resolve(null)
    return dialled.get(number, () => findDialledAcrossTenants(db, number))
  }

  async function answer(call: IncomingCall, attempt: Attempt): Promise<CarrierAnswer> {
    signatures.expectSigned(call.signed)
    const number = await lookUp(call.to)
    const tenant = number && (await tenants.get(number.tenantId))
    if (!tenant) {
      await signatures.expectFromAccount(call.accountSid, call.signed)
      log.warn({ call_sid: call.callSid }, 'a call to a number that no tenant holds')
      return { provider: DEFAULT_CARRIER, verbs: sayAndGo(NOT_IN_SERVICE, null) }
    }
    signatures.expectFrom(tenant, call.signed)
    if (call.callSid === '') throw invalidRequest([{ path: '/body/CallSid', message: 'must be the id of a call' }])
    attempt.tenant = tenant
    return { provider: tenant.telephony.provider, verbs: await take({ tenant, call, attempt }, number.agentKey) }
  }

  function refuse({ tenant, call, attempt: { agentKey, agent } }: Taking, why: Refusal): CallVerb[] {
    const { callSid, from, to } = call
    log.warn({ tenant_id: tenant.tenant_id, call_sid: callSid, why }, 'a call was not taken')
    deps.refused.note(tenant, { callSid, from, to, why, agentKey, agent })
    const text = NOT_TAKEN[why].status === 'busy' ? NO_ROOM : SORRY
    return sayAndGo(text, tenant.telephony.fallback_number)
  }

  async function take(taking: Taking, agentKey: string | null): Promise<CallVerb[]> {
    const { tenant, call, attempt } = taking
    const { callSid } = call
    const refused = (why: Refusal) => refuse(taking, why)
    if (agentKey === null && !deps.hasNoRoutes) {
      log.warn({ tenant_id: tenant.tenant_id, call_sid: callSid }, 'a call to a number without a route')
      return sayAndGo(NOT_IN_SERVICE, null)
    }
    attempt.agentKey = agentKey
    if (!deps.hasModel) return refused('no_model')
    try {
      // Asked before the tenant is, who would be asked again by the other node.
      const elsewhere = await askedElsewhere(tenant, call)
      if (elsewhere) return elsewhere
      const decision = await deps.decide(tenant, call)
      if (decision.reject !== null) return turnAway(tenant, callSid, decision.reject)
      const choice = { decided: decision.agentKey, routed: agentKey }
      const agent = await decidedAgent(deps, tenant, call, choice)
      if (!agent) return refused('no_agent')
      attempt.agent = agent
      // Whoever was told meanwhile that the call is not taken goes elsewhere with it.
      if (attempt.isLate) return []
      const spent = await spentToday(db, tenant, { now: new Date(clock.now()), exceptCallSid: callSid })
      const noDay = dayRefusal(tenant, spent)
      if (noDay) return refused(noDay)
      const { noRoom, giveBack } = capacity.reserve(roomFor(tenant, callSid))
      if (noRoom) return (await askedElsewhere(tenant, call)) ?? refused(noRoom)
      return await connect(taking, { agent, ...decision, spentToday: spent }, giveBack)
    } catch (err) {
      if (isTenantBusy(err)) return refused('tenant_full')
      log.error({ err, tenant_id: tenant.tenant_id, call_sid: callSid }, 'a call could not be taken')
      return refused('internal')
    }
  }

  /** Null: this node takes it, or no other one does, or the carrier was told so often enough. */
  async function askedElsewhere(tenant: TenantRuntime, { callSid, again }: IncomingCall): Promise<CallVerb[] | null> {
    const isStopping = capacity.ask(roomFor(tenant, callSid)) === 'stopping'
    return isStopping && (await deps.hasHeir()) ? askAgain(deps.addresses().incoming, again) : null
  }

  function turnAway({ tenant_id }: TenantRuntime, callSid: string, sentence: string): CallVerb[] {
    log.warn({ tenant_id, call_sid: callSid, why: 'rejected' }, 'a call was not taken')
    return rejection(sentence)
  }

  async function connect(taking: Taking, decided: Decided, giveBack: () => void): Promise<CallVerb[]> {
    const { tenant, call, attempt } = taking
    const { callSid, from, to } = call
    const { agent, greeting, variables: metadata, spentToday: spent } = decided
    try {
      const known = {
        callSid,
        direction: 'inbound' as const,
        from,
        to,
        orgId: null,
        metadata,
        greeting,
        spentToday: spent,
      }
      const opened = await againWhenRefused(() => sessions.open(tenant, { ...known, agent }))
      if (!opened.isOver && !attempt.isLate) return streamVerbs(deps, grantOf(tenant, callSid, opened))
    } catch (error) {
      giveBack()
      throw error
    }
    giveBack()
    return [{ type: 'hangup' }]
  }

  /** What is said when the answer takes so long that the carrier would give up. */
  function late(call: IncomingCall, attempt: Attempt): CarrierAnswer {
    attempt.isLate = true
    const { tenant } = attempt
    if (tenant) return { provider: tenant.telephony.provider, verbs: refuse({ tenant, call, attempt }, 'too_slow') }
    log.error({ call_sid: call.callSid }, 'a call could not be looked up in time')
    return { provider: DEFAULT_CARRIER, verbs: sayAndGo(SORRY, null) }
  }

  return {
    async answer(call) {
      const attempt: Attempt = { tenant: null, isLate: false, agentKey: null, agent: null }
      try {
        return await withinTime(clock, answer(call, attempt), () => late(call, attempt))
      } catch (err) {
        if (err instanceof AppError && REFUSALS.has(err.code)) throw err
        // Not even the tenant is known, so nothing can be checked, and nothing is given away.
        log.error({ err, call_sid: call.callSid }, 'a call could not be looked up')
        return { provider: DEFAULT_CARRIER, verbs: sayAndGo(SORRY, null) }
      }
    },
  }
}

/**
 * One request to take a call: whose it turned out to be, once its signature is known to be right; whether it is too late; and who
 * is to speak, as far as that is known.
 */
type Attempt = { tenant: TenantRuntime | null; isLate: boolean; agentKey: string | null; agent: ResolvedAgent | null }
/** Who speaks in a call, and what else was decided about it. */
type Decided = {
  agent: ResolvedAgent
  greeting: string | null
  variables: Record<string, unknown>
  spentToday: SpentToday | null
}
type Taking = { tenant: TenantRuntime; call: IncomingCall; attempt: Attempt }

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
