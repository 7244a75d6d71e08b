import type { Actor } from '../../kernel/actor.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { TenantId, UserId } from '../../kernel/ids.ts'
import type { PhoneNumber } from '../../kernel/phone.ts'
import type { Sealer } from '../../kernel/seal.ts'
import type { Db } from '../../platform/db/schema.ts'
import { makeLanes } from '../../platform/lanes.ts'
import type { Log } from '../../platform/log.ts'
import { audit } from '../../tenancy/audit-log.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { LEASE_MS, Lost, makeEraseAll, TurnOver } from './erase-all.ts'
import type { EraseSession } from './erase-session.ts'
import {
  type ClaimedErasure,
  claimErasureAcrossTenants,
  completeErasure,
  listSealedNumbersAcrossTenants,
  releaseErasure,
  type SealedNumber,
  writeSealedNumber,
} from './number-erasure-store.ts'

/** Does what was asked of numbers, by whoever looks first. */
export type ErasingNumber = {
  /**
   * Goes on with a request, as far as it goes in a few seconds, in which it also waits for others to be done; whoever else is at it is
   * left to it. What fails, and what is left, is left to the sweep.
   */
  goOn(id: string): Promise<void>
  /** Goes on with all requests that nobody is at, in turns. @returns how many were brought to their end. */
  sweep(): Promise<number>
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'info' | 'error'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  sealer: Pick<Sealer, 'open'>
  erase: EraseSession
  /** Whether the service stops: then nothing more is begun. */
  isStopping: () => boolean
}

/** A piece is begun within this: of the request itself, which somebody waits for, and of one turn in a sweep. */
const ANSWER_WITHIN_MS = 5_000
const TURN_MS = 30_000
/** Of the requests that somebody waits for: each keeps a connection busy, and calls need those. */
const AT_A_TIME = 2
/** Of a sweep. */
const MAX_TURNS = 1_000

export function makeErasingNumber(deps: Deps): ErasingNumber {
  const { db, clock, log, sealer, isStopping } = deps
  const eraseAll = makeEraseAll(deps)
  const lanes = makeLanes(AT_A_TIME)

  /** @returns whether the request was brought to its end. */
  async function workOn(claimed: ClaimedErasure, untilMs: number): Promise<boolean> {
    const { tenant_id: tenantId, id } = claimed
    const phone = sealer.open(claimed.phone_sealed, contextOf(tenantId, id)) as PhoneNumber
    return (await eraseAll(claimed, phone, untilMs)) && complete(claimed)
  }

  async function complete(claimed: ClaimedErasure): Promise<boolean> {
    const { tenant_id: tenantId, id } = claimed
    const at = new Date(clock.now())
    return db.transaction().execute(async (tx) => {
      const done = await completeErasure(tx, claimed, at)
      if (!done) return false
      const before = { phone: done.phone_masked, counts: done.counts }
      await audit(tx, { by: actorOf(claimed), action: 'number_erasure.completed', tenantId, targetId: id, before, at })
      return true
    })
  }

  /** @returns null when there is nothing to be gone on with. */
  async function claimAndWork(wanted: { id: string | null; except: string[] }, untilMs: number): Promise<Turn | null> {
    const claimed = await claimErasureAcrossTenants(db, { ...wanted, leaseMs: LEASE_MS })
    if (!claimed) return null
    const fields = { tenant_id: claimed.tenant_id, erasure_id: claimed.id }
    const turn: Turn = { id: claimed.id, isDone: false, isMore: false }
    try {
      turn.isDone = await workOn(claimed, untilMs)
    } catch (err) {
      turn.isMore = err instanceof TurnOver
      if (!(err instanceof Lost || turn.isMore))
        log.error({ err, ...fields }, 'a number was not erased: it is gone on with')
    }
    if (turn.isDone) log.info(fields, 'a number was erased')
    else await releaseErasure(db, claimed).catch(() => undefined)
    return turn
  }

  return {
    async goOn(id) {
      const untilMs = clock.monotonicMs() + ANSWER_WITHIN_MS
      await lanes(async () => {
        if (clock.monotonicMs() < untilMs) await claimAndWork({ id, except: [] }, untilMs)
      })
    },
    async sweep() {
      /** Done, failed, or waiting for a call: for the next sweep. And those that wait for their next turn. */
      const left: string[] = []
      let hadTurns: string[] = []
      let done = 0
      for (let turns = 0; turns < MAX_TURNS && !isStopping(); turns += 1) {
        const turn = await claimAndWork({ id: null, except: [...left, ...hadTurns] }, clock.monotonicMs() + TURN_MS)
        if (turn) {
          ;(turn.isMore ? hadTurns : left).push(turn.id)
          done += turn.isDone ? 1 : 0
        } else if (hadTurns.length > 0) hadTurns = []
        else break
      }
      return done
    },
  }
}

/** How a request was gone on with. `isMore`: only its time was over. */
type Turn = { id: string; isDone: boolean; isMore: boolean }

/** What the sealed number is bound to. */
export function contextOf(tenantId: TenantId, id: string): string {
  return `${tenantId}/number_erasure/${id}`
}

/**
 * Seals with the present key the numbers that the former one has sealed.
 *
 * @param onUnopened hears whose number neither key opens, which stays as it is.
 * @returns how many.
 */
export async function renewNumbers(
  db: Db,
  sealer: Pick<Sealer, 'renew'>,
  onUnopened: (tenantId: TenantId, error: unknown) => void,
): Promise<number> {
  let count = 0
  for (const row of await listSealedNumbersAcrossTenants(db)) {
    const phoneSealed = renewedNumber(row, sealer, onUnopened)
    if (phoneSealed === row.phone_sealed) continue
    await writeSealedNumber(db, { ...row, phone_sealed: phoneSealed })
    count += 1
  }
  return count
}

function renewedNumber(
  { tenant_id: tenantId, id, phone_sealed: sealed }: SealedNumber,
  sealer: Pick<Sealer, 'renew'>,
  onUnopened: (tenantId: TenantId, error: unknown) => void,
): string {
  try {
    return sealer.renew(sealed, contextOf(tenantId, id))
  } catch (error) {
    onUnopened(tenantId, error)
    return sealed
  }
}

/** Who asked for it. */
function actorOf({ actor_kind: kind, actor: name, actor_id: id, tenant_id: tenantId }: ClaimedErasure): Actor {
  return kind === 'person' ? { kind, name, userId: id as UserId, tenantId, role: 'admin' } : { kind, name }
}
