import type { Clock } from '../kernel/clock.ts'
import type { AgentVersionId, TenantId } from '../kernel/ids.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { findHolder } from './call-directory-store.ts'
import { type CallHolder, isHeldBy } from './call-holder.ts'
import { isStreamPromised, notePromise } from './call-resume-store.ts'
import { isOver } from './call-status.ts'
import { lockRecord } from './call-store.ts'
import type { CallDirection } from './call-values.ts'

/** What the stream must carry that is to go on with a call; `times`: how often one was promised within a minute or so. */
export type PromisedStream = {
  epoch: number
  direction: CallDirection
  agentVersionId: AgentVersionId | null
  times: number
}

/** A stream that has a call, as its session knows it. */
export type HeldCall = CallHolder & { tenantId: TenantId; callSid: string }

/** Calls that lost their stream, and who has them. */
export type Resuming = {
  /**
   * Notes that the carrier is told to open another stream for the call. Nothing changes for whoever has it now: it is that
   * stream's beginning which takes the call over. Two promises at once are of one epoch, and the first stream has it.
   *
   * @returns null for a call that is over, or whose conversation has not begun, unless it is `turnedAway`: its first stream found no room.
   */
  promise(tenantId: TenantId, callSid: string, turnedAway?: boolean): Promise<PromisedStream | null>
  /** Whether the call is still that of the stream's, and no other is on its way to it. A call that is not known is. */
  isHeld(call: HeldCall): Promise<boolean>
  /** What the records know of a call whose stream is gone: `over`, `held` by that stream yet, or `lost` to others. */
  standOf(call: HeldCall): Promise<'over' | 'held' | 'lost'>
}

type Lost = { tenantId: TenantId; callSid: string; turnedAway: boolean }

export function makeResuming({ db, clock }: { db: Db; clock: Clock }): Resuming {
  async function promiseIn(tx: Tx, { tenantId, callSid, turnedAway }: Lost): Promise<PromisedStream | null> {
    const locked = await lockRecord(tx, tenantId, callSid)
    if (!locked) return null
    const { log, session } = locked.before
    const isThere = session.started_at !== null || turnedAway
    if (isOver(log.status) || session.ended_at !== null || !isThere) return null
    const times = await notePromise(tx, tenantId, callSid, new Date(clock.now()))
    // Whoever has claimed a call of a dead node has raised the epoch, and nobody has it; nor has anybody one that has not begun.
    const epoch = locked.call.owner === null ? locked.call.epoch : locked.call.epoch + 1
    return { epoch, direction: session.direction, agentVersionId: session.agent_version_id, times }
  }

  async function standIn(tx: Tx, { tenantId, callSid, ...holder }: HeldCall) {
    const locked = await lockRecord(tx, tenantId, callSid)
    if (!locked) return 'lost'
    const { log, session } = locked.before
    if (isOver(log.status) || session.ended_at !== null) return 'over'
    return isHeldBy(locked.call, holder) ? 'held' : 'lost'
  }

  return {
    standOf: (call) => db.transaction().execute((tx) => standIn(tx, call)),
    promise: (tenantId, callSid, turnedAway = false) =>
      db.transaction().execute((tx) => promiseIn(tx, { tenantId, callSid, turnedAway })),
    async isHeld({ tenantId, callSid, ...holder }) {
      const current = await findHolder(db, tenantId, callSid)
      if (current === null) return true
      if (!isHeldBy(current, holder)) return false
      return !(await isStreamPromised(db, tenantId, callSid, new Date(clock.now())))
    },
  }
}
