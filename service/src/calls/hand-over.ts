import { type Clock, withTimeout } from '../kernel/clock.ts'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import { hasHeir } from '../platform/nodes/heartbeat-store.ts'
import type { Journal } from '../records/journal.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { LiveSessions } from '../voice/live-sessions.ts'
import { forEachByTenant } from './by-tenant.ts'
import { RESCUE_LEASE_MS } from './orphaned-calls.ts'
import { releaseCall, rescueOver, takeBack } from './orphaned-calls-store.ts'
import type { SendCallBack } from './send-call-back.ts'

/**
 * Hands the calls of this node over to another one that takes calls, if there is one: what was said is written down, the call is
 * let go of, and its carrier is made to ask what comes next for it, which the other node answers. Resolves when their streams
 * are gone. Those that could not be handed over are here as before, and so are calls without a carrier. Never rejects.
 */
export type HandOver = () => Promise<void>

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'info' | 'warn'>
  nodeId: NodeId
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  journal: Pick<Journal, 'flush'>
  live: Pick<LiveSessions, 'all' | 'findCall' | 'handOver'>
  sendCallBack: SendCallBack
  /** Stops to serve a call that is not this node's any more, without ending it. */
  letGo(tenantId: TenantId, callSid: string): void
  /** A node that was not heard from for so long is none. */
  silenceMs: number
}

type Call = { tenantId: TenantId; callSid: string }

const SENT_AT_ONCE = 50
const WRITTEN_WITHIN_MS = 2_000
/** A carrier that was told to go on elsewhere closes the stream within this. */
const GONE_WITHIN_MS = 5_000
const LOOK_INTERVAL_MS = 100

export function makeHandOver(deps: Deps): HandOver {
  const { db, clock, log, nodeId, tenants, journal, live, sendCallBack, letGo } = deps

  async function handOver(call: Call): Promise<void> {
    const { tenantId, callSid } = call
    try {
      const tenant = await tenants.get(tenantId)
      // Asked first: with that the words that are being said are written down as far as they were heard.
      if (!tenant || !live.handOver(tenantId, callSid)) return
      const late = () => new Error('what was said cannot be written now')
      await withTimeout(clock, journal.flush(callSid), WRITTEN_WITHIN_MS, late)
      const isGone = await sent(tenant, call)
      log.info({ tenant_id: tenantId, call_sid: callSid, is_gone: isGone }, 'a call was to be handed over')
    } catch (err) {
      log.warn({ err, tenant_id: tenantId, call_sid: callSid }, 'a call could not be handed over')
    }
  }

  async function sent(tenant: TenantRuntime, call: Call): Promise<boolean> {
    const lookAt = new Date(clock.now() + RESCUE_LEASE_MS)
    const released = await releaseCall(db, nodeId, call, { leaseMs: RESCUE_LEASE_MS, lookAt })
    if (!released) return false
    const outcome = await sendCallBack(tenant, released)
    const isElsewhere = outcome === 'sent' || outcome === 'taken' || !(await takeBack(db, nodeId, released))
    if (!isElsewhere) return false
    await rescueOver(db, released)
    await gone(call)
    letGo(call.tenantId, call.callSid)
    return true
  }

  async function gone({ tenantId, callSid }: Call): Promise<void> {
    const endMs = clock.monotonicMs() + GONE_WITHIN_MS
    while (live.findCall(tenantId, callSid) && clock.monotonicMs() < endMs) {
      await new Promise<void>((resolve) => clock.after(LOOK_INTERVAL_MS, resolve))
    }
  }

  return async () => {
    const calls = live.all().flatMap(({ facts: { tenantId, callSid, callType } }) => {
      return callType === 'browser' ? [] : [{ tenantId, callSid }]
    })
    if (calls.length === 0) return
    const heir = await hasHeir(db, nodeId, deps.silenceMs).catch((err: unknown) => {
      log.warn({ err }, 'it could not be found out whether another node takes calls')
      return false
    })
    if (heir) await forEachByTenant(calls, SENT_AT_ONCE, handOver)
  }
}
