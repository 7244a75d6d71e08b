import type { Clock } from '../kernel/clock.ts'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import { PROMISE_MS } from '../records/call-resume-store.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { LiveSessions } from '../voice/live-sessions.ts'
import { RESCUE_LEASE_MS } from './orphaned-calls.ts'
import { type OrphanedCall, releaseCall, rescueLater, rescueOver, takeBack } from './orphaned-calls-store.ts'
import type { SendCallBack } from './send-call-back.ts'

/**
 * `gone`: to another node. `kept`: it is this node's as before. `left`: it had no stream any more, and its carrier could not be told; or that
 * has asked by itself, and was promised another stream. Should it have to be told, another node does.
 */
export type GivenAway = 'gone' | 'kept' | 'left'

/**
 * Lets go of a call in the database, and has its carrier ask what comes next for it, which another node answers.
 *
 * @throws AppError `unavailable` when the database fails on the way.
 */
export type GiveAway = (tenant: TenantRuntime, call: { tenantId: TenantId; callSid: string }) => Promise<GivenAway>

type Deps = {
  db: Db
  clock: Clock
  nodeId: NodeId
  live: Pick<LiveSessions, 'findCall'>
  sendCallBack: SendCallBack
}

export function makeGiveAway({ db, clock, nodeId, live, sendCallBack }: Deps): GiveAway {
  async function told(tenant: TenantRuntime, released: OrphanedCall): Promise<GivenAway> {
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

  return async (tenant, call) => {
    const lookAt = new Date(clock.now() + RESCUE_LEASE_MS)
    const released = await releaseCall(db, nodeId, call, { leaseMs: RESCUE_LEASE_MS, lookAt })
    if (!released) return 'kept'
    const became = await told(tenant, released)
    if (became === 'gone') await rescueOver(db, released)
    return became
  }
}
