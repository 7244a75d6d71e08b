import type { ResolveAgent } from '../agents/resolve.ts'
import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { CallVerb } from '../platform/telephony/port.ts'
import { DEFAULT_CARRIER } from '../platform/telephony/registry.ts'
import { isDatabaseTrouble } from '../records/database-trouble.ts'
import type { Sessions } from '../records/sessions.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { LiveCapacity, NoRoom } from '../voice/live-capacity.ts'
import type { LiveSessions } from '../voice/live-sessions.ts'
import type { StreamTokens } from '../voice/stream-token.ts'
import type { OfDial } from './adopt-dial.ts'
import { withinTime } from './answer-time.ts'
import { askAgain } from './ask-again.ts'
import type { CallResume } from './call-resume.ts'
import { carrierSentence } from './carrier-words.ts'
import { sayAndGo } from './hang-up.ts'
import type { CarrierAnswer } from './incoming.ts'
import type { LateUnanswered } from './late-unanswered.ts'
import type { OutboundCallbacks } from './outbound-callbacks.ts'
import type { CallStatuses } from './record-status.ts'
import { isOfOneNode, type Refusal, refusalOf } from './refusals.ts'
import type { ResumedCall } from './resumed-call.ts'
import { type CallAddresses, streamVerbs } from './stream-verbs.ts'

/** Says what to do with a call that we asked for, once somebody answers it. */
export type OutboundAnswer = {
  /**
   * The stream to the agent, also when it is asked for again before that has begun. From then on, and for a call that we did
   * not ask for, what `CallResume` says. When no agent can talk, a sentence and the end; where only this node has no room, or takes
   * no calls any more, and another one does, the carrier is to ask again, five times at most.
   *
   * @throws AppError `unauthorized` when the request is not the carrier's, and for nothing else.
   */
  next(call: ResumedCall & OfDial): Promise<CarrierAnswer>
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn' | 'error'>
  callbacks: Pick<OutboundCallbacks, 'adopt'>
  resume: CallResume
  sessions: Pick<Sessions, 'unbegun'>
  reports: Pick<CallStatuses, 'notTaken'>
  /** Notes why a call was not connected once the database is back. */
  late: Pick<LateUnanswered, 'take'>
  resolveAgent: ResolveAgent
  tokens: StreamTokens
  capacity: LiveCapacity
  live: Pick<LiveSessions, 'callHere'>
  hasModel: boolean
  /** Whether another node takes calls. */
  hasHeir: () => Promise<boolean>
  addresses: () => CallAddresses
  /** Where the carrier asks about the call of a dial. */
  answerUrl: (dialRef: string) => string
}

export function makeOutboundAnswer(deps: Deps): OutboundAnswer {
  const { clock, log, callbacks, resume, sessions, reports, resolveAgent, capacity, live } = deps

  /** Null: it is not, or no longer, ours to answer. */
  async function first(call: ResumedCall & OfDial): Promise<CarrierAnswer | null> {
    const adopted = live.callHere(call.callSid) ? null : await callbacks.adopt(call)
    if (!adopted) return null
    const { tenant, isItsCall } = adopted
    // Its session would be that of another dial, with that one's agent and greeting.
    if (!isItsCall) return refused(tenant, call.callSid, { why: 'another_call', language: null })
    const opened = await sessions.unbegun(tenant, call.callSid)
    if (!opened) return null
    const { agentVersionId, epoch } = opened
    const agent = await resolveAgent(tenant, agentVersionId === null ? null : { versionId: agentVersionId })
    const why = deps.hasModel ? (agent ? roomFor(tenant, call) : 'no_agent') : 'no_model'
    const { provider } = tenant.telephony
    const elsewhere = isOfThisNode(why) ? await askedElsewhere(call) : null
    if (elsewhere) return { provider, verbs: elsewhere }
    if (why !== null) return notTaken(tenant, call, { why, language: agent?.config.speech.language ?? null })
    const grant = { tenant: tenant.tenant_id, call_sid: call.callSid, agent_version_id: agentVersionId, epoch }
    return { provider, verbs: streamVerbs(deps, { ...grant, direction: 'outbound' }) }
  }

  /** Null: there is no other node, or the carrier was told so often enough. */
  async function askedElsewhere({ dialRef, again = 0 }: ResumedCall & OfDial): Promise<CallVerb[] | null> {
    return (await deps.hasHeir()) ? askAgain(deps.answerUrl(dialRef), again) : null
  }

  /** Takes a place for the call, as calls that come in do; why there is none. */
  function roomFor({ tenant_id: tenantId }: TenantRuntime, { callSid, dialRef }: OfDial): NoRoom | null {
    // The gate has counted the tenant's calls before this one was placed.
    const { noRoom } = capacity.reserve({ tenantId, callSid, maxConcurrentCalls: null })
    capacity.rang(dialRef)
    return noRoom
  }

  /** Its log says why, too, so that nobody takes whoever answered for reached. */
  async function notTaken(
    tenant: TenantRuntime,
    call: OfDial,
    { why, language }: { why: Refusal; language: string | null },
  ): Promise<CarrierAnswer> {
    const at = new Date(clock.now())
    await reports.notTaken(tenant.tenant_id, call.callSid, { why, at }).catch(() => noteLater(call, why))
    return refused(tenant, call.callSid, { why, language })
  }

  /** Never rejects. */
  async function noteLater({ dialRef, callSid, signed }: OfDial, why: Refusal): Promise<void> {
    const isTaken = await deps.late.take({ dialRef, callSid, signed, why, at: new Date(clock.now()) })
    if (!isTaken) log.error({ call_sid: callSid }, 'why a call was not connected was not noted')
  }

  function refused(
    { tenant_id, telephony }: TenantRuntime,
    callSid: string,
    { why, language }: { why: string; language: string | null },
  ): CarrierAnswer {
    log.warn({ tenant_id, call_sid: callSid, why }, 'a call that was placed could not be connected')
    return { provider: telephony.provider, verbs: unconnected(language) }
  }

  /** Who has talked with an agent before was reached. */
  function sorry(call: OfDial, hadAgent: boolean, failed: { err: unknown } | null): CarrierAnswer {
    log.error({ ...failed, call_sid: call.callSid }, 'a call that was placed could not be looked up')
    const isSlow = failed === null || isDatabaseTrouble(failed.err)
    if (!hadAgent) void noteLater(call, isSlow ? 'too_slow' : 'internal')
    return { provider: DEFAULT_CARRIER, verbs: unconnected(null) }
  }

  return {
    async next(call) {
      const hadAgent = live.callHere(call.callSid) !== null
      try {
        const answer = async () => (await first(call)) ?? (await resume.next({ ...call, isPlaced: true }))
        return await withinTime(clock, answer(), () => sorry(call, hadAgent, null))
      } catch (err) {
        if (err instanceof AppError && err.code === 'unauthorized') throw err
        return sorry(call, hadAgent, { err })
      }
    },
  }
}

function unconnected(language: string | null): CallVerb[] {
  const sentence = carrierSentence((words) => words.unconnected, language)
  return sayAndGo(sentence, null)
}

/** Another node may have room. */
function isOfThisNode(why: string | null): boolean {
  const refusal = refusalOf(why)
  return refusal !== null && isOfOneNode(refusal)
}
