import type { ResolveAgent } from '../agents/resolve.ts'
import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { CallVerb } from '../platform/telephony/port.ts'
import { DEFAULT_CARRIER } from '../platform/telephony/registry.ts'
import type { Resuming } from '../records/resuming.ts'
import type { VoiceSessionRow } from '../records/voice-session-store.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { LiveCapacity } from '../voice/live-capacity.ts'
import type { LiveSessions } from '../voice/live-sessions.ts'
import type { TransferFault } from '../voice/session/events.ts'
import { withinTime } from './answer-time.ts'
import { askAgain } from './ask-again.ts'
import { type CallStand, makeCallStand } from './call-stand.ts'
import { type AgainDeps, makeConnectAgain } from './connect-again.ts'
import type { HangingUp } from './hang-up.ts'
import type { CarrierAnswer } from './incoming.ts'
import type { CallbackSignatures } from './incoming-signature.ts'
import { findCallAcrossTenants } from './incoming-store.ts'
import type { LateUnanswered } from './late-unanswered.ts'
import { makeNotGoneOn } from './not-gone-on.ts'
import type { PutThrough } from './put-through.ts'
import type { CallStatuses } from './record-status.ts'
import { refusalVerbs } from './refusal-verbs.ts'
import { isOfOneNode, type Refusal } from './refusals.ts'
import type { RefusedCalls } from './refused-calls.ts'
import type { Attempt, Dialled, ResumedCall } from './resumed-call.ts'

const HANG_UP: CallVerb[] = [{ type: 'hangup' }]

/** Says what comes next for a call of ours whose stream is over. */
export type CallResume = {
  /**
   * The end, for a call whose conversation is over, whether that is written down yet or not, with us or with whom it was put through to. Another stream for one that has
   * lost its own, wherever that was, with the same agent; whoever has the call keeps it until that stream comes. So it is with one
   * whose first stream came to a node without room, where there is room now. For one that never had any otherwise, or loses its
   * stream again and again, or cannot be gone on with, the tenant's fallback number, or a sentence and the end. What cannot be found out in 8 s counts as that, too; but who was only taken to have hung up is given
   * time: the carrier is to ask again, five times at most. It is asked, too, when a call that was not taken has been with the
   * tenant's fallback number: that is the end.
   *
   * @throws AppError `unauthorized` when the request is not the carrier's, and for nothing else.
   */
  next(call: ResumedCall): Promise<CarrierAnswer>
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'info' | 'warn' | 'error'>
  nodeId: NodeId
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  resolveAgent: ResolveAgent
  signatures: CallbackSignatures
  live: LiveSessions
  capacity: LiveCapacity
  statuses: CallStatuses
  putThrough: PutThrough
  resuming: Resuming
  carrierCalls: Pick<HangingUp, 'letLast' | 'dropApology'>
  /** Calls that were not taken, and whom somebody else may have answered. */
  refused: Pick<RefusedCalls, 'tenantsOf' | 'served'>
  /** Calls that we asked for and with which nobody talks, of which it is not known yet whose they are. */
  unanswered: Pick<LateUnanswered, 'take'>
  again: Pick<AgainDeps, 'tokens' | 'addresses' | 'hasModel' | 'hasHeir'>
}

export function makeCallResume(deps: Deps): CallResume {
  const { db, clock, log, nodeId, tenants, signatures, live, capacity, putThrough } = deps
  const notGoneOn = makeNotGoneOn({ ...deps, resumeUrl: () => deps.again.addresses().resume })
  const again = makeConnectAgain({ log, live, capacity, resuming: deps.resuming, ...deps.again })
  const standOf = makeCallStand(deps)

  async function next(call: ResumedCall, attempt: Attempt): Promise<CarrierAnswer> {
    const { callSid, accountSid, dialled = null, signed } = call
    signatures.expectSigned(signed)
    // Asked first: the end of a call that was here until just now may not be written down yet.
    const here = live.callHere(callSid)
    // Another process may have taken it after that.
    const refusing = dialled === null || here ? [] : deps.refused.tenantsOf(callSid)
    const refused = refusing.length > 0 && (await afterRefusal(refusing, { callSid, dialled, signed }))
    if (refused) return refused
    const stored = here ? null : await findCallAcrossTenants(db, callSid)
    const found = here ?? stored
    const tenant = found && (await tenants.get(found.tenantId))
    if (!tenant) {
      await signatures.expectFromAccount(accountSid, signed)
      return { provider: DEFAULT_CARRIER, verbs: HANG_UP }
    }
    signatures.expectFrom(tenant, signed)
    Object.assign(attempt, { tenant, language: here?.language ?? null, isGuessed: here?.isGuessed ?? false })
    const { provider } = tenant.telephony
    // Where no session waits for them any more they have had the call, though it may be that this could not be written down.
    const mayWait = here !== null || (stored !== null && stored.owner !== null && stored.owner !== nodeId)
    if (dialled === 'through' || (dialled === 'room_over' && !mayWait)) {
      live.findCall(tenant.tenant_id, callSid)?.command({ type: 'transferred' })
      await putThrough(tenant, callSid)
      return { provider, verbs: HANG_UP }
    }
    const why = faultOf(dialled)
    if (why) live.findCall(tenant.tenant_id, callSid)?.command({ type: 'transfer_failed', why })
    const stand = await standOf(tenant.tenant_id, callSid, { here, stored })
    return { provider, verbs: await comesNext(tenant, call, { stand, attempt }) }
  }

  async function comesNext(
    tenant: TenantRuntime,
    call: ResumedCall,
    { stand, attempt }: { stand: CallStand; attempt: Attempt },
  ): Promise<CallVerb[]> {
    const { callSid, again: times = 0, dialled = null } = call
    const { session, isElsewhere, noRoom } = stand
    const why = session?.direction === 'inbound' ? noRoom : null
    if (stand.isOver) {
      const isToldAgain = session && why && dialled === null && session.end_reason === 'rejected'
      if (isToldAgain) return refusedAgain(tenant, call, { session, why })
      if (!stand.isPutThrough || faultOf(dialled) === null || dialled === 'room_over') return HANG_UP
      const language = attempt.language ?? (await languageOf(deps.resolveAgent, tenant, session))
      return notGoneOn.notAnswered(tenant, call, language)
    }
    const turnedAway = noRoom !== null && isOfOneNode(noRoom)
    const connected = isElsewhere
      ? null
      : await again.connect(tenant, { callSid, turnedAway, notThrough: faultOf(dialled) })
    const verbs = connected === 'elsewhere' ? askAgain(deps.again.addresses().resume, times) : connected
    if (verbs) return verbs
    // Whoever has taken the call had it by then, though its session had not heard so yet.
    if (dialled === 'room_over' && (await isOverByNow(tenant, callSid))) return HANG_UP
    // From here on it is not taken, whether that can be written down in time or not.
    attempt.why = why
    log.warn({ tenant_id: tenant.tenant_id, call_sid: callSid }, 'a call has no stream any more')
    capacity.release({ tenantId: tenant.tenant_id, callSid })
    attempt.language ??= await languageOf(deps.resolveAgent, tenant, session)
    return notGoneOn.known(tenant, call, { language: attempt.language, why })
  }

  async function isOverByNow({ tenant_id: tenantId }: TenantRuntime, callSid: string): Promise<boolean> {
    return (await standOf(tenantId, callSid, { here: null, stored: await findCallAcrossTenants(db, callSid) })).isOver
  }

  /** To a carrier that did not get our answer. */
  async function refusedAgain(
    tenant: TenantRuntime,
    { callerId = null }: ResumedCall,
    { session, why }: { session: VoiceSessionRow; why: Refusal },
  ) {
    const language = await languageOf(deps.resolveAgent, tenant, session)
    return refusalVerbs(tenant, { why, language, callerId, resumeUrl: deps.again.addresses().resume })
  }

  /** Of a call that is not written down yet. Null where the carrier of none of these asks: it may be another tenant's. */
  async function afterRefusal(
    tenantIds: TenantId[],
    { callSid, dialled, signed }: Pick<ResumedCall, 'callSid' | 'dialled' | 'signed'>,
  ): Promise<CarrierAnswer | null> {
    const found = await Promise.all(tenantIds.map((id) => tenants.get(id)))
    const known = found.filter((tenant) => tenant !== null)
    if (known.length === 0) return { provider: DEFAULT_CARRIER, verbs: HANG_UP }
    const tenant = known.find((each) => signatures.isFrom(each, signed))
    if (!tenant) return null
    if (dialled === 'through') deps.refused.served(tenant.tenant_id, callSid)
    return { provider: tenant.telephony.provider, verbs: HANG_UP }
  }

  return {
    async next(call) {
      const attempt: Attempt = { tenant: null, language: null, isGuessed: false, why: null }
      const failed = (fields: { err?: unknown }): CarrierAnswer => {
        log.error({ ...fields, call_sid: call.callSid }, 'it could not be found out what comes next for a call')
        return notGoneOn.unknown(attempt, call)
      }
      try {
        return await withinTime(clock, next(call, attempt), () => failed({}))
      } catch (err) {
        if (err instanceof AppError && err.code === 'unauthorized') throw err
        return failed({ err })
      }
    },
  }
}

function faultOf(dialled: Dialled | null): TransferFault | null {
  if (dialled === 'through') return null
  // Whoever had taken the call has left its room before it was theirs.
  return dialled === 'room_over' ? 'declined' : dialled
}

/** In which the call's agent speaks; null where that is not known, or cannot be found out. */
async function languageOf(
  resolveAgent: ResolveAgent,
  tenant: TenantRuntime,
  session: VoiceSessionRow | null,
): Promise<string | null> {
  const versionId = session?.agent_version_id ?? null
  const agent = resolveAgent(tenant, versionId === null ? null : { versionId })
  return (await agent.catch(() => null))?.config.speech.language ?? null
}
