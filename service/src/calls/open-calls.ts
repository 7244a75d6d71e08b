import type { TenantId } from '../kernel/ids.ts'
import { TrueAge } from '../kernel/true-age.ts'
import type { Db } from '../platform/db/schema.ts'
import { LOOK_INTERVAL_MS, LOST_AFTER_MS } from '../records/open-call-store.ts'
import { forEachByTenant } from './by-tenant.ts'
import { OpenCallLook, type OpenCallLookDeps } from './open-call-look.ts'
import {
  claimDueAcrossTenants,
  forgetTriesAcrossTenants,
  lookAgain,
  makeDueAcrossTenants,
  openCallsAcrossTenants,
} from './open-calls-store.ts'

/** Looks after calls that are not complete, so that none stays so because nobody told of its end. */
export type OpenCalls = {
  /**
   * Looks at the calls that are due, 200 at most: their carriers are asked, what these say is applied, and what nobody will end
   * is ended. Resolves when the calls are taken; they are looked at in the background, 1,000 at most at a time.
   *
   * @throws AppError `unavailable` when the database does not answer.
   */
  sweep(): Promise<void>
  /** This node was away: what carriers told of calls that nobody has yet may have been told to nobody: they are due now, or 10 s old. */
  wasAway(): Promise<void>
  /** Looks at these calls now. Never rejects: what fails is done at the next look. */
  look(callSids: string[]): Promise<void>
  /** The stream of a call is gone: its carrier is asked in 10 s, unless the call has another stream by then. */
  streamLost(tenantId: TenantId, callSid: string): Promise<void>
  /** Resolves when nothing is under way any more. */
  settled(): Promise<void>
}

const BATCH_ROWS = 200
const MAX_UNDER_WAY = 1_000
const ASKED_AT_ONCE = 10

/** `vital`: by which due calls are taken; whoever takes those of nodes that are gone waits for it. */
type Deps = Omit<OpenCallLookDeps, 'age'> & { vital: Db }

export function makeOpenCalls(deps: Deps): OpenCalls {
  const { db, vital, clock, log } = deps
  const age = new TrueAge(clock)
  const one = new OpenCallLook({ ...deps, age })
  const underWay = new Map<Promise<void>, number>()

  async function look(callSids: string[]): Promise<void> {
    try {
      const calls = await openCallsAcrossTenants(db, callSids)
      const looked: string[] = []
      /** Accounts that do not answer are not asked again for each of their calls. */
      const away = new Set<TenantId>()
      await forEachByTenant(calls, ASKED_AT_ONCE, async (call) => {
        if (await one.at(call, away)) looked.push(call.callSid)
      })
      await forgetTriesAcrossTenants(db, looked)
    } catch (err) {
      log.warn({ err, calls: callSids.length }, 'open calls could not be looked after')
    }
  }

  return {
    look,
    async sweep() {
      age.look()
      const room = MAX_UNDER_WAY - [...underWay.values()].reduce((sum, calls) => sum + calls, 0)
      if (room <= 0) return
      const now = new Date(clock.now())
      const again = new Date(clock.now() + LOOK_INTERVAL_MS)
      const due = await claimDueAcrossTenants(vital, { now, again, limitRows: Math.min(room, BATCH_ROWS) })
      if (due.length === 0) return
      const looking = look(due).finally(() => underWay.delete(looking))
      underWay.set(looking, due.length)
    },
    wasAway: () => makeDueAcrossTenants(db, { now: new Date(clock.now()), afterMs: LOST_AFTER_MS }),
    streamLost: (tenantId, callSid) => lookAgain(db, tenantId, callSid, new Date(clock.now() + LOST_AFTER_MS)),
    async settled() {
      await Promise.all(underWay.keys())
    },
  }
}
