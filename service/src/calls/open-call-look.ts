import type { Clock } from '../kernel/clock.ts'
import type { AgentVersionId, NodeId, TenantId } from '../kernel/ids.ts'
import type { TrueAge } from '../kernel/true-age.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { CarrierCall } from '../platform/telephony/port.ts'
import { type CallReport, statusReport } from '../records/call-record.ts'
import { isOver } from '../records/call-status.ts'
import { LONGEST_CALL_SECONDS } from '../records/call-values.ts'
import { LOOK_INTERVAL_MS, LOST_AFTER_MS, setLook } from '../records/open-call-store.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { CarrierOutcome, CarrierRequests } from './carrier-requests.ts'
import type { EndLostCall } from './lost-calls.ts'
import { isAbandoned, type StepFacts, stepFor } from './open-call-step.ts'
import { lookAgain, type OpenCall } from './open-calls-store.ts'
import type { CallStatuses } from './record-status.ts'

export type OpenCallLookDeps = {
  db: Db
  clock: Clock
  /** A call that goes on has become no older where the clock was set. */
  age: Pick<TrueAge, 'of'>
  log: Pick<Log, 'warn'>
  nodeId: NodeId
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  statuses: CallStatuses
  requests: CarrierRequests
  endLostCall: EndLostCall
  /** Whether this process has the call's session, or is yet to write down its end. */
  willEnd(tenantId: TenantId, callSid: string): boolean
  /** The call is over: what is here of it ends. */
  hungUp(tenantId: TenantId, callSid: string): void
  /** The longest that a call with this agent may take, in ms. */
  maxCallMs(tenant: TenantRuntime, versionId: AgentVersionId | null): Promise<number>
}

/** How much older than its maximum a call may become before it is closed, whoever has it. */
const GRACE_MS = 600_000
const LONGEST_CALL_MS = LONGEST_CALL_SECONDS * 1_000

type Asking = { facts: StepFacts; away: Set<TenantId> }
/** `answer`: null where the carrier was not asked. */
type Unanswered = { answer: CarrierOutcome<unknown> | null; facts: StepFacts }

/** Looks at one open call: asks its carrier, and does what follows. */
export class OpenCallLook {
  readonly #deps: OpenCallLookDeps

  constructor(deps: OpenCallLookDeps) {
    this.#deps = deps
  }

  /**
   * Whether all was found out that there is to be found out. Never rejects. `away`: tenants whose carrier did not answer just
   * now, which are not asked again and to which this one adds its own.
   */
  async at(call: OpenCall, away: Set<TenantId>): Promise<boolean> {
    const { tenantId, callSid } = call
    try {
      const tenant = await this.#deps.tenants.get(tenantId)
      return tenant === null || (await this.#settle(tenant, call, away))
    } catch (err) {
      this.#deps.log.warn({ err, tenant_id: tenantId, call_sid: callSid }, 'an open call could not be looked after')
      return false
    }
  }

  async #settle(tenant: TenantRuntime, call: OpenCall, away: Set<TenantId>): Promise<boolean> {
    const facts = await this.#factsOf(tenant, call)
    const step = stepFor(call, facts)
    if (step === 'ask') return this.#ask(tenant, call, { facts, away })
    if (step === 'complete') await setLook(this.#deps.db, call.tenantId, call.callSid, null)
    if (step === 'cancel') await this.#deps.statuses.cancelUnbegun(call.tenantId, call.callSid)
    if (step === 'end') await this.#close(call)
    return true
  }

  async #factsOf(tenant: TenantRuntime, call: OpenCall): Promise<StepFacts> {
    const nowMs = this.#deps.clock.now()
    const ageMs = this.#deps.age.of((call.begunAt ?? call.createdAt).getTime())
    return {
      nowMs,
      isTooOld: ageMs > GRACE_MS && ageMs > GRACE_MS + (await this.#maxCallMs(tenant, call)),
      isForgotten: call.owner === this.#deps.nodeId && !this.#deps.willEnd(call.tenantId, call.callSid),
    }
  }

  /** Who was put through, to a person or the fallback number, talks without an agent, and as long as the carrier lets them. */
  async #maxCallMs(tenant: TenantRuntime, call: OpenCall): Promise<number> {
    if (isPutThrough(call)) return LONGEST_CALL_MS
    const { maxCallSeconds, agentVersionId } = call
    return maxCallSeconds === null ? this.#deps.maxCallMs(tenant, agentVersionId) : maxCallSeconds * 1_000
  }

  async #ask(tenant: TenantRuntime, call: OpenCall, { facts, away }: Asking): Promise<boolean> {
    const answer = away.has(call.tenantId)
      ? null
      : await this.#deps.requests.make(tenant, (carrier, account, signal) =>
          carrier.fetchCall(account, call.callSid, signal),
        )
    if (answer?.type === 'done') return this.#apply(tenant, call, { told: answer.value, facts })
    if (isOfAccount(answer)) away.add(call.tenantId)
    return this.#notAnswered(call, { answer, facts })
  }

  async #notAnswered(call: OpenCall, { answer, facts }: Unanswered): Promise<boolean> {
    if (facts.isTooOld) await this.#close(call)
    else if (answer?.type !== 'no_account')
      await lookAgain(this.#deps.db, call.tenantId, call.callSid, this.#afterBackoff(call))
    return answer?.type === 'no_account'
  }

  /** The carrier's word, and then what follows from it. Null: it knows no such call. */
  async #apply(
    tenant: TenantRuntime,
    call: OpenCall,
    { told, facts }: { told: CarrierCall | null; facts: StepFacts },
  ): Promise<boolean> {
    const { tenantId, callSid } = call
    const reported = told && (await this.#deps.statuses.record(tenantId, callSid, reportOf(call, told, facts.nowMs)))
    const isNobodys = isAbandoned(call, facts)
    if (reported?.isOver) {
      this.#deps.hungUp(tenantId, callSid)
      if (isNobodys) await this.#deps.endLostCall(call, null)
      return true
    }
    if (told !== null && isLeftRunning(tenant, call, facts)) return this.#hangUp(tenant, call, facts)
    if (facts.isTooOld || (told === null && (isNobodys || call.begunAt === null))) await this.#close(call)
    return true
  }

  /** Its session has ended it, and its carrier has not. */
  async #hangUp(tenant: TenantRuntime, call: OpenCall, facts: StepFacts): Promise<boolean> {
    const { tenantId, callSid } = call
    const answer = await this.#deps.requests.make(tenant, (carrier, account, signal) =>
      carrier.endCall(account, callSid, signal),
    )
    if (answer.type !== 'done') return this.#notAnswered(call, { answer, facts })
    const at = new Date(this.#deps.clock.now())
    await this.#deps.statuses.record(tenantId, callSid, statusReport('completed', at))
    return true
  }

  /** Nobody tells how it ended, but that it has. */
  async #close(call: OpenCall): Promise<void> {
    const { tenantId, callSid, begunAt } = call
    const now = new Date(this.#deps.clock.now())
    if (begunAt === null) await this.#deps.statuses.record(tenantId, callSid, statusReport('failed', now))
    else await this.#deps.endLostCall(call, isOver(call.status) ? null : statusReport('completed', now))
    this.#deps.hungUp(tenantId, callSid)
  }

  #afterBackoff({ tries }: OpenCall): Date {
    return new Date(this.#deps.clock.now() + Math.min(LOOK_INTERVAL_MS, LOST_AFTER_MS * 2 ** Math.max(0, tries - 1)))
  }
}

/** Whether others than the agent have the call since its session ended, and it goes on as long as they like. */
function isPutThrough({ endReason }: OpenCall): boolean {
  return endReason === 'transferred' || endReason === 'model_lost'
}

/** An apology that its carrier was asked for is over by then. */
const APOLOGY_MS = 60_000

/** Whether the call was to be over with its session. One that has lost its model may be with the fallback number. */
function isLeftRunning({ telephony }: TenantRuntime, call: OpenCall, { nowMs }: StepFacts): boolean {
  const { endedAt, endReason, isAtFallback } = call
  if (endedAt === null || endReason === 'transferred') return false
  if (endReason !== 'model_lost') return true
  // The number may have been changed since, while the caller talks to whoever has answered there.
  const isElsewhere = isAtFallback ?? telephony.fallback_number !== null
  return !isElsewhere && nowMs - endedAt.getTime() >= APOLOGY_MS
}

/** Whether the account's other calls would fare no better. */
function isOfAccount(answer: CarrierOutcome<unknown> | null): boolean {
  return answer?.type === 'failed' || answer?.type === 'no_account'
}

/** The carrier tells how long the call took, and not when it ended. */
function reportOf({ answeredAt }: OpenCall, told: CarrierCall, nowMs: number): CallReport {
  const { status, durationSeconds, answeredBy } = told
  const endMs = answeredAt && durationSeconds !== null ? answeredAt.getTime() + durationSeconds * 1_000 : nowMs
  const at = new Date(isOver(status) ? Math.min(nowMs, endMs) : nowMs)
  return { ...statusReport(status, at), durationSeconds, answeredBy }
}
