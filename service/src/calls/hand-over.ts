import { type Clock, waitWhile, withTimeout } from '../kernel/clock.ts'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import { hasHeir } from '../platform/nodes/heartbeat-store.ts'
import type { Journal } from '../records/journal.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { HeldStream, LiveSessions } from '../voice/live-sessions.ts'
import { forEachByTenant } from './by-tenant.ts'
import { type GivenAway, makeGiveAway } from './give-away.ts'
import { isEarlier, type LetGo } from './let-go.ts'
import type { HeedOthers } from './others-word.ts'
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
  heedOthers: HeedOthers
  /** Whether other nodes share the database, and carriers are told an address that leads to them. */
  mayHaveHeir: boolean
  /** A node that was not heard from for so long is none. */
  silenceMs: number
}

/**
 * `unknown`: the database has failed, and its carrier may have been told to go on elsewhere, or asks by itself once its stream is gone. It is
 * let go of here, and whoever has it by then decides.
 */
type Became = GivenAway | 'unknown'

type Call = { tenantId: TenantId; callSid: string }

const SENT_AT_ONCE = 50
/** The caller's last words, keys that they press, and tools that run: whoever goes on from here would not know of them, and run them again. */
const TOLD_WITHIN_MS = 3_000
const WRITTEN_WITHIN_MS = 2_000
/** As long as anybody is rung who a call is put through to. */
const PUT_THROUGH_WITHIN_MS = 45_000
const LOOK_MS = 2_000
/** A carrier that was told to go on elsewhere closes the stream within this. */
const GONE_WITHIN_MS = 5_000

export function makeHandOver(deps: Deps): HandOver {
  const { clock, log, tenants, journal, live, letGo, heedOthers } = deps
  const giveAway = makeGiveAway(deps)

  async function handOver(call: Call): Promise<void> {
    const { tenantId, callSid } = call
    let became: Became = 'kept'
    try {
      const tenant = await tenants.get(tenantId)
      // To send it elsewhere now would hang up on who is rung for it: it is put through, or comes back.
      await allLeft([call])
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
    const became = await giveAway(tenant, call).catch((err: unknown): Became => {
      log.warn({ err, tenant_id: tenantId, call_sid: callSid }, 'it is not known whether a call was handed over')
      return 'unknown'
    })
    if (became === 'kept') {
      nobody.failed()
      return became
    }
    const isStillHere = () => isEarlier(live.findCall(tenantId, callSid), epoch)
    if (became === 'gone') await waitWhile(clock, isStillHere, GONE_WITHIN_MS)
    // Also where another stream is only on its way: the end of the session that is here would be that of the call.
    letGo(tenantId, callSid, epoch)
    return became
  }

  /** They are put through, or back: here, or at another node, of which nobody but the records tells this one any more. */
  async function allLeft(calls: Call[]): Promise<void> {
    const endMs = clock.monotonicMs() + PUT_THROUGH_WITHIN_MS
    for (let left = calls.filter(isLeaving); left.length > 0; left = left.filter(isLeaving)) {
      if (clock.monotonicMs() >= endMs) return
      await waitWhile(clock, () => left.some(isLeaving), LOOK_MS)
      const late = () => new Error('the database is silent')
      await withTimeout(clock, heedOthers(left.filter(isLeaving)), LOOK_MS, late).catch((err: unknown) =>
        log.warn({ err }, 'it could not be found out whether another node has calls again'),
      )
    }
  }

  function isLeaving({ tenantId, callSid }: Call): boolean {
    return live.findCall(tenantId, callSid)?.isLeaving === true
  }

  function allTold({ tenantId, callSid }: Call): Promise<void> {
    return waitWhile(clock, () => live.findCall(tenantId, callSid)?.hasOpenTurns, TOLD_WITHIN_MS)
  }

  return async () => {
    const calls = live.all().flatMap(({ facts: { tenantId, callSid, callType } }) => {
      return callType === 'browser' ? [] : [{ tenantId, callSid }]
    })
    if (calls.length === 0) return
    if (await isHeirThere(deps)) return forEachByTenant(calls, SENT_AT_ONCE, handOver)
    // To end one of these would hang up on who is rung for it, too. The others end now, and have nobody else rung meanwhile.
    const leaving = calls.filter(isLeaving)
    for (const session of live.all()) if (!session.isLeaving) session.command({ type: 'end', reason: 'shutdown' })
    await allLeft(leaving)
  }
}

async function isHeirThere({ db, log, nodeId, mayHaveHeir, silenceMs }: Deps): Promise<boolean> {
  if (!mayHaveHeir) return false
  return hasHeir(db, nodeId, silenceMs).catch((err: unknown) => {
    log.warn({ err }, 'it could not be found out whether another node takes calls')
    return false
  })
}
