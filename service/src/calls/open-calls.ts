import type { Clock } from '../kernel/clock.ts'
import type { AgentVersionId, NodeId, TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { CarrierCall } from '../platform/telephony/port.ts'
import { type CallReport, statusReport } from '../records/call-record.ts'
import { isOver } from '../records/call-status.ts'
import { LOOK_INTERVAL_MS, LOST_AFTER_MS, setLook } from '../records/open-call-store.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { forEachByTenant } from './by-tenant.ts'
import type { CarrierOutcome, CarrierRequests } from './carrier-requests.ts'
import type { EndLostCall } from './lost-calls.ts'
import { isAbandoned, type StepFacts, stepFor } from './open-call-step.ts'
import {
  claimDueAcrossTenants,
  forgetTriesAcrossTenants,
  lookAgain,
  type OpenCall,
  openCallsAcrossTenants,
} from './open-calls-store.ts'
import type { CallStatuses } from './record-status.ts'

/** Looks after calls that are not complete, so that none stays so because nobody told of its end. */
export type OpenCalls = {
  /**
   * Looks at the calls that are due, 200 at most: their carriers are asked, what these say is applied, and what nobody will end
   * is ended. Resolves when the calls are taken; they are looked at in the background, 1,000 at most at a time.
   *
   * @throws AppError `unavailable` when the database does not answer.
   */
  sweep(): Promise<void>
  /** Looks at these calls now. Never rejects: what fails is done at the next look. */
  look(callSids: string[]): Promise<void>
  /** The stream of a call is gone: its carrier is asked in 10 s, unless the call has another stream by then. */
  streamLost(tenantId: TenantId, callSid: string): Promise<void>
  /** Resolves when nothing is under way any more. */
  settled(): Promise<void>
}

type Deps = {
  db: Db
  clock: Clock
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

const BATCH_ROWS = 200
const MAX_UNDER_WAY = 1_000
const ASKED_AT_ONCE = 10
/** How much older than its maximum a call may become before it is closed, whoever has it. */
const GRACE_MS = 600_000

export function makeOpenCalls(deps: Deps): OpenCalls {
  const { db, clock, log, nodeId, tenants, statuses, requests, endLostCall } = deps
  const underWay = new Map<Promise<void>, number>()

  async function look(callSids: string[]): Promise<void> {
    try {
      const calls = await openCallsAcrossTenants(db, callSids)
      const looked: string[] = []
      /** Accounts that do not answer are not asked again for each of their calls. */
      const away = new Set<TenantId>()
      await forEachByTenant(calls, ASKED_AT_ONCE, async (call) => {
        if (await lookAt(call, away)) looked.push(call.callSid)
      })
      await forgetTriesAcrossTenants(db, looked)
    } catch (err) {
      log.warn({ err, calls: callSids.length }, 'open calls could not be looked after')
    }
  }

  /** Whether all was found out that there is to be found out. */
  async function lookAt(call: OpenCall, away: Set<TenantId>): Promise<boolean> {
    const { tenantId, callSid } = call
    try {
      const tenant = await tenants.get(tenantId)
      return tenant === null || (await settle(tenant, call, away))
    } catch (err) {
      log.warn({ err, tenant_id: tenantId, call_sid: callSid }, 'an open call could not be looked after')
      return false
    }
  }

  async function settle(tenant: TenantRuntime, call: OpenCall, away: Set<TenantId>): Promise<boolean> {
    const facts = await factsOf(tenant, call)
    const step = stepFor(call, facts)
    if (step === 'ask') return ask(tenant, call, { facts, away })
    if (step === 'complete') await setLook(db, call.tenantId, call.callSid, null)
    if (step === 'cancel') await statuses.cancelUnbegun(call.tenantId, call.callSid)
    if (step === 'end') await close(call)
    return true
  }

  async function factsOf(tenant: TenantRuntime, call: OpenCall): Promise<StepFacts> {
    const nowMs = clock.now()
    const ageMs = nowMs - (call.begunAt ?? call.createdAt).getTime()
    const isTooOld = ageMs > GRACE_MS && ageMs > GRACE_MS + (await deps.maxCallMs(tenant, call.agentVersionId))
    return { nowMs, isTooOld, isForgotten: call.owner === nodeId && !deps.willEnd(call.tenantId, call.callSid) }
  }

  async function ask(tenant: TenantRuntime, call: OpenCall, { facts, away }: Asking): Promise<boolean> {
    const answer = away.has(call.tenantId)
      ? null
      : await requests.make(tenant, (carrier, account, signal) => carrier.fetchCall(account, call.callSid, signal))
    if (answer?.type === 'done') {
      await apply(call, answer.value, facts)
      return true
    }
    if (isOfAccount(answer)) away.add(call.tenantId)
    if (facts.isTooOld) await close(call)
    else if (answer?.type !== 'no_account') await lookAgain(db, call.tenantId, call.callSid, afterBackoff(call))
    return answer?.type === 'no_account'
  }

  /** The carrier's word, and then what follows from it. Null: it knows no such call. */
  async function apply(call: OpenCall, told: CarrierCall | null, facts: StepFacts): Promise<void> {
    const { tenantId, callSid } = call
    const reported = told && (await statuses.record(tenantId, callSid, reportOf(call, told, facts.nowMs)))
    const isNobodys = isAbandoned(call, facts)
    if (reported?.isOver) {
      deps.hungUp(tenantId, callSid)
      if (isNobodys) await endLostCall(call, null)
    } else if (facts.isTooOld || (told === null && (isNobodys || call.begunAt === null))) await close(call)
  }

  /** Nobody tells how it ended, but that it has. */
  async function close(call: OpenCall): Promise<void> {
    const { tenantId, callSid, begunAt } = call
    const now = new Date(clock.now())
    if (begunAt === null) await statuses.record(tenantId, callSid, statusReport('failed', now))
    else await endLostCall(call, isOver(call.status) ? null : statusReport('completed', now))
    deps.hungUp(tenantId, callSid)
  }

  function afterBackoff({ tries }: OpenCall): Date {
    return new Date(clock.now() + Math.min(LOOK_INTERVAL_MS, LOST_AFTER_MS * 2 ** Math.max(0, tries - 1)))
  }

  return {
    look,
    async sweep() {
      const room = MAX_UNDER_WAY - [...underWay.values()].reduce((sum, calls) => sum + calls, 0)
      if (room <= 0) return
      const now = new Date(clock.now())
      const again = new Date(clock.now() + LOOK_INTERVAL_MS)
      const due = await claimDueAcrossTenants(db, { now, again, limitRows: Math.min(room, BATCH_ROWS) })
      if (due.length === 0) return
      const looking = look(due).finally(() => underWay.delete(looking))
      underWay.set(looking, due.length)
    },
    streamLost: (tenantId, callSid) => lookAgain(db, tenantId, callSid, new Date(clock.now() + LOST_AFTER_MS)),
    async settled() {
      await Promise.all(underWay.keys())
    },
  }
}

type Asking = { facts: StepFacts; away: Set<TenantId> }

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
