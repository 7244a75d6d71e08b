import { type Clock, withTimeout } from '../kernel/clock.ts'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import { hasHeir } from '../platform/nodes/heartbeat-store.ts'
import { PROMISE_MS } from '../records/call-resume-store.ts'
import type { Journal } from '../records/journal.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { HeldStream, LiveSessions } from '../voice/live-sessions.ts'
import { forEachByTenant } from './by-tenant.ts'
import { isEarlier, type LetGo } from './let-go.ts'
import { RESCUE_LEASE_MS } from './orphaned-calls.ts'
import { type OrphanedCall, releaseCall, rescueLater, rescueOver, takeBack } from './orphaned-calls-store.ts'
import type { SendCallBack } from './send-call-back.ts'

/**
 * Hands the calls of this node over to another one that takes calls, if there is one: what was said is written down, the call is
 * let go of, and its carrier is made to ask what comes next for it, which the other node answers. Resolves when their streams
 * are gone. A call that could not be handed over says goodbye and ends; those without a carrier are here as before, and where there is no
 * such node all are, once those that are being put through are so, or are back. Never rejects.
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
  letGo: LetGo
  /** Whether other nodes share the database, and carriers are told an address that leads to them. */
  mayHaveHeir: boolean
  /** A node that was not heard from for so long is none. */
  silenceMs: number
}

/**
 * `left`: it had no stream any more, and its carrier could not be told; or that has asked by itself, and was promised another stream.
 * Should it have to be told, another node does. `unknown`: the database has failed, and its carrier may have been told to go on elsewhere,
 * or asks by itself once its stream is gone. It is let go of here, and whoever has it by then decides.
 */
type Became = 'gone' | 'kept' | 'left' | 'unknown'

type Call = { tenantId: TenantId; callSid: string }

const SENT_AT_ONCE = 50
/** The caller's last words, and tools that run: whoever goes on from here would not know of them, and run them again. */
const TOLD_WITHIN_MS = 3_000
const WRITTEN_WITHIN_MS = 2_000
/** As long as anybody is rung who a call is put through to. */
const PUT_THROUGH_WITHIN_MS = 45_000
/** A carrier that was told to go on elsewhere closes the stream within this. */
const GONE_WITHIN_MS = 5_000
const LOOK_INTERVAL_MS = 100

export function makeHandOver(deps: Deps): HandOver {
  const { db, clock, log, nodeId, tenants, journal, live, sendCallBack, letGo } = deps

  async function handOver(call: Call): Promise<void> {
    const { tenantId, callSid } = call
    let became: Became = 'kept'
    try {
      const tenant = await tenants.get(tenantId)
      // To send it elsewhere now would hang up on who is rung for it: it is put through, or comes back.
      await waitWhile(() => isLeaving(call), PUT_THROUGH_WITHIN_MS)
      // Without a stream it is let go of as soon as it is asked, and nothing that is told after that is written down.
      if (live.findCall(tenantId, callSid)?.phase === 'detached') await allTold(call)
      const hold = live.findCall(tenantId, callSid)?.hold
      // Asked first: with that the words that are being said are written down as far as they were heard.
      if (!tenant || !hold || !live.handOver(tenantId, callSid)) return
      await allTold(call)
      const late = () => new Error('what was said cannot be written now')
      await withTimeout(clock, journal.flush(callSid), WRITTEN_WITHIN_MS, late)
      became = await sent(tenant, call, hold)
      log.info({ tenant_id: tenantId, call_sid: callSid, became }, 'a call was to be handed over')
    } catch (err) {
      log.warn({ err, tenant_id: tenantId, call_sid: callSid }, 'a call could not be handed over')
    }
    if (became === 'kept') live.findCall(tenantId, callSid)?.command({ type: 'kept' })
  }

  async function sent(tenant: TenantRuntime, call: Call, hold: HeldStream): Promise<Became> {
    const { tenantId, callSid } = call
    const epoch = hold.epoch + 1
    // What is told here until another stream begins is told by whoever had the call.
    const nobody = hold.expect({ epoch, owner: null })
    const became = await toldOf(tenant, call).catch((err: unknown): Became => {
      log.warn({ err, tenant_id: tenantId, call_sid: callSid }, 'it is not known whether a call was handed over')
      return 'unknown'
    })
    if (became === 'kept') {
      nobody.failed()
      return became
    }
    if (became === 'gone') await waitWhile(() => isEarlier(live.findCall(tenantId, callSid), epoch), GONE_WITHIN_MS)
    // Also where another stream is only on its way: the end of the session that is here would be that of the call.
    letGo(tenantId, callSid, epoch)
    return became
  }

  /** @throws AppError `unavailable` when the database fails on the way. */
  async function toldOf(tenant: TenantRuntime, call: Call): Promise<Became> {
    const lookAt = new Date(clock.now() + RESCUE_LEASE_MS)
    const released = await releaseCall(db, nodeId, call, { leaseMs: RESCUE_LEASE_MS, lookAt })
    if (!released) return 'kept'
    const became = await told(tenant, released)
    if (became === 'gone') await rescueOver(db, released)
    return became
  }

  async function told(tenant: TenantRuntime, released: OrphanedCall): Promise<'gone' | 'kept' | 'left'> {
    const outcome = await sendCallBack(tenant, released)
    if (outcome === 'sent' || outcome === 'taken') return 'gone'
    if (outcome === 'coming') {
      await rescueLater(db, released, PROMISE_MS)
      return 'left'
    }
    const isHere = live.findCall(released.tenantId, released.callSid) !== null
    if (isHere) return (await takeBack(db, nodeId, released)) ? 'kept' : 'gone'
    await rescueLater(db, released, 0)
    return 'left'
  }

  function isLeaving({ tenantId, callSid }: Call): boolean {
    return live.findCall(tenantId, callSid)?.isLeaving === true
  }

  function allTold({ tenantId, callSid }: Call): Promise<void> {
    return waitWhile(() => live.findCall(tenantId, callSid)?.hasOpenTurns, TOLD_WITHIN_MS)
  }

  async function waitWhile(isSo: () => boolean | undefined, withinMs: number): Promise<void> {
    const endMs = clock.monotonicMs() + withinMs
    while (isSo() && clock.monotonicMs() < endMs) {
      await new Promise<void>((resolve) => clock.after(LOOK_INTERVAL_MS, resolve))
    }
  }

  async function isHeirThere(): Promise<boolean> {
    if (!deps.mayHaveHeir) return false
    return hasHeir(db, nodeId, deps.silenceMs).catch((err: unknown) => {
      log.warn({ err }, 'it could not be found out whether another node takes calls')
      return false
    })
  }

  return async () => {
    const calls = live.all().flatMap(({ facts: { tenantId, callSid, callType } }) => {
      return callType === 'browser' ? [] : [{ tenantId, callSid }]
    })
    if (calls.length === 0) return
    if (await isHeirThere()) return forEachByTenant(calls, SENT_AT_ONCE, handOver)
    // To end one of these would hang up on who is rung for it, too. The others end now, and have nobody else rung meanwhile.
    const leaving = calls.filter(isLeaving)
    for (const session of live.all()) if (!session.isLeaving) session.command({ type: 'end', reason: 'shutdown' })
    await waitWhile(() => leaving.some(isLeaving), PUT_THROUGH_WITHIN_MS)
  }
}
