import type { Clock } from '../kernel/clock.ts'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import type { SharedClock } from '../kernel/shared-clock.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import { setClock } from '../platform/nodes/heartbeat.ts'
import { askTime, hasResumer } from '../platform/nodes/heartbeat-store.ts'
import type { SteadyBeats } from '../platform/nodes/steady-beats.ts'
import { PROMISE_MS } from '../records/call-resume-store.ts'
import { isOver } from '../records/call-status.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { forEachByTenant } from './by-tenant.ts'
import type { OpenCalls } from './open-calls.ts'
import { openCallsAcrossTenants } from './open-calls-store.ts'
import {
  claimOrphansAcrossTenants,
  type OrphanedCall,
  rescueLater,
  rescueOver,
  silentOwners,
} from './orphaned-calls-store.ts'
import type { SendCallBack } from './send-call-back.ts'

/** Brings calls back whose nodes are gone. */
export type OrphanedCalls = {
  /**
   * Takes the open calls of nodes that were not heard from for `silenceMs`, 500 at most, but for those whose carriers have just asked, and
   * makes their carriers ask what comes next for them. Resolves when they are taken. A call that is over is closed (`process_lost`),
   * and so is one without a carrier. Nothing until this node itself could be heard for as long: a database that takes no heartbeats
   * takes those of the others neither, and by one whose clock was put forward all of them seem silent; and nothing while all nodes stop, or are of a version that would turn the carriers away.
   *
   * @throws AppError `unavailable` when the database does not answer.
   */
  sweep(): Promise<void>
  /** Resolves when nothing is under way any more. */
  settled(): Promise<void>
}

type Deps = {
  db: Db
  /** By which calls are taken, and known to be to be taken. */
  vital: Db
  clock: Clock
  log: Pick<Log, 'warn' | 'error'>
  nodeId: NodeId
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  openCalls: Pick<OpenCalls, 'look'>
  sendCallBack: SendCallBack
  /** This node's own. */
  beats: Pick<SteadyBeats, 'forMs' | 'beginAnew'>
  /** Goes by the database's; not given where there can be no other node. */
  sharedClock?: Pick<SharedClock, 'heard' | 'monotonicMs'> | undefined
  /** 0 where there can be no other node: whoever had a call is gone. */
  silenceMs: number
}

const BATCH_ROWS = 500
const MAX_UNDER_WAY = 1_500
/** Of one tenant. */
const SENT_AT_ONCE = 50
/** What was not begun by then is left to the next look at it, which comes as soon as a stream should have. */
const BEGIN_WITHIN_MS = 15_000
/** Longer than all tries of a call that was begun in time. */
export const RESCUE_LEASE_MS = 60_000
/** A call that could not be sent back is tried again, by whichever node comes first, for as long as it may last. */
const TRY_AGAIN_MS = 15_000

export function makeOrphanedCalls(deps: Deps): OrphanedCalls {
  const { db, vital, clock, log, nodeId, tenants, openCalls, sendCallBack, beats, sharedClock, silenceMs } = deps
  const underWay = new Map<Promise<void>, number>()

  async function claim(owners: NodeId[]): Promise<OrphanedCall[]> {
    const room = MAX_UNDER_WAY - [...underWay.values()].reduce((sum, calls) => sum + calls, 0)
    if (room <= 0) return []
    const lookAt = new Date(clock.now() + BEGIN_WITHIN_MS)
    return claimOrphansAcrossTenants(vital, {
      ...{ owners, lookAt, leaseMs: RESCUE_LEASE_MS, promisedSince: new Date(clock.now() - PROMISE_MS) },
      limitRows: Math.min(room, BATCH_ROWS),
    })
  }

  /**
   * Whether the database's clock was not set since this node heard it last. If it was, this node goes by it from now on, and is steady
   * anew: a beat, whose answer waits for the disk, tells less exactly what that clock says, and might find for ever that it was not.
   */
  async function isClockSteady(): Promise<boolean> {
    if (!sharedClock) return true
    const askedMs = sharedClock.monotonicMs()
    if (!setClock(sharedClock, { saidMs: await askTime(vital), askedMs }, log)) return true
    beats.beginAnew()
    return false
  }

  /** Never rejects: a call that was taken and is left is looked after, as any open call is. */
  async function rescue(orphans: OrphanedCall[]): Promise<void> {
    try {
      const known = await openCallsAcrossTenants(
        db,
        orphans.map(({ callSid }) => callSid),
      )
      const isLive = ({ direction, status, endedAt }: (typeof known)[number]) =>
        // One whose session has ended goes on elsewhere, as at a fallback number.
        direction !== 'browser' && !isOver(status) && endedAt === null
      await Promise.all([
        openCalls.look(known.filter((call) => !isLive(call)).map(({ callSid }) => callSid)),
        bringBack(known.filter(isLive)),
      ])
    } catch (err) {
      log.error({ err, calls: orphans.length }, 'calls of a node that is gone could not be brought back')
    }
  }

  async function bringBack(calls: OrphanedCall[]): Promise<void> {
    const untilMs = clock.monotonicMs() + BEGIN_WITHIN_MS
    await forEachByTenant(calls, SENT_AT_ONCE, async (call) => {
      const fields = { tenant_id: call.tenantId, call_sid: call.callSid }
      try {
        const tenant = await tenants.get(call.tenantId)
        const isLate = clock.monotonicMs() > untilMs
        const outcome = tenant && !isLate ? await sendCallBack(tenant, call) : 'failed'
        if (outcome === 'failed') await rescueLater(db, call, TRY_AGAIN_MS)
        // A stream that was promised does not always come.
        else if (outcome === 'coming') await rescueLater(db, call, PROMISE_MS)
        else await rescueOver(db, call)
        if (outcome === 'failed') log.error({ ...fields, isLate }, 'a call of a node that is gone was not brought back')
        if (outcome === 'refused') await openCalls.look([call.callSid])
      } catch (err) {
        log.error({ ...fields, err }, 'a call of a node that is gone was not brought back')
      }
    })
  }

  return {
    async sweep() {
      const owners = await silentOwners(vital, nodeId, silenceMs)
      const isAnswered = owners.length === 0 || silenceMs === 0 || (await hasResumer(vital, silenceMs))
      const isSteady = owners.length === 0 || (await isClockSteady())
      // Asked after the answers: as long as those took, nobody was heard.
      const orphans = await claim(isAnswered && isSteady && beats.forMs >= silenceMs ? owners : [])
      if (orphans.length === 0) return
      log.warn({ calls: orphans.length, nodes: owners.length }, 'calls of a node that is gone are brought back')
      const rescuing = rescue(orphans).finally(() => underWay.delete(rescuing))
      underWay.set(rescuing, orphans.length)
    },
    async settled() {
      await Promise.all(underWay.keys())
    },
  }
}
