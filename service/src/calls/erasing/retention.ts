import { OUTBOX_TABLES } from '../../delivery/outbox-store.ts'
import { purgeDeliveredAcrossTenants } from '../../delivery/purge-store.ts'
import { AppError } from '../../kernel/errors.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { inTurns } from '../../kernel/in-turns.ts'
import type { Log } from '../../platform/log.ts'
import { isDatabaseTrouble } from '../../records/database-trouble.ts'
import { deleteOldSimulations } from '../../records/simulations/simulation-store.ts'
import type { EraseSession } from './erase-session.ts'
import { listOldSessions, listRetentionsAcrossTenants, type OldSession } from './erase-store.ts'
import { type ErasedAudioDeps, makeErasedAudio } from './erased-audio.ts'
import { eraseUnplaced } from './unplaced-store.ts'

/** What becomes of things that are old enough; each is repeated on every node, and takes a bounded time. */
export type Retention = {
  /** Erases sessions that are older than their tenants keep them. @returns how many. */
  eraseOld(): Promise<number>
  /** Erases what calls were given that no carrier took, and that are older than that. @returns of how many logs. */
  eraseUnplaced(): Promise<number>
  /** Deletes simulations that have been over for longer than their tenants keep sessions. @returns how many. */
  deleteOldSimulations(): Promise<number>
  /** Deletes the files of erased sessions that this process can reach, whichever node erased them. */
  removeAudio(): Promise<void>
  /** Deletes what was delivered thirty days ago. */
  purgeDelivered(): Promise<void>
}

type Deps = ErasedAudioDeps & {
  log: Pick<Log, 'info'>
  erase: EraseSession
  /** How many rows of an outbox are deleted in one statement; fewer for tests. */
  rowsAtATime?: number
}

const DAY_MS = 86_400_000
/** In one go, of one tenant, so that none waits for the others. */
const SESSIONS_AT_A_TIME = 50
const SIMULATIONS_AT_A_TIME = 50
const UNPLACED_AT_A_TIME = 1_000
const ROWS_AT_A_TIME = 5_000
const DELIVERED_FOR_MS = 30 * DAY_MS

export function makeRetention(deps: Deps): Retention {
  const { db, clock, log, erase, isStopping, rowsAtATime = ROWS_AT_A_TIME } = deps

  /** @returns how many were erased, and behind which session there may be more; null when there are none. */
  async function eraseSome(tenantId: TenantId, before: Date, after: OldSession | null) {
    const page = await listOldSessions(db, tenantId, { before, after, limit: SESSIONS_AT_A_TIME })
    let erased = 0
    for (const { id } of page) {
      if (isStopping()) break
      try {
        await erase(tenantId, id, 'retention')
        erased += 1
      } catch (err) {
        if (isDatabaseTrouble(err)) throw err
        // Another node was first. What else is wrong with one session keeps no other one longer than it may be kept.
        if (err instanceof AppError && err.code === 'not_found') continue
        log.error({ err, tenant_id: tenantId, voice_session_id: id }, 'an old session was not erased')
      }
    }
    return { erased, after: page.length === SESSIONS_AT_A_TIME ? (page.at(-1) ?? null) : null }
  }

  /** Does a piece of what there is for each tenant that bounds how long sessions are kept, and goes on in turns; `piece` returns whether there is more. */
  async function ofOld(piece: (tenantId: TenantId, before: Date) => Promise<boolean>): Promise<void> {
    const retentions = await listRetentionsAcrossTenants(db)
    const startedAt = clock.now()
    await inTurns({ clock, isStopping }, retentions, async ({ tenantId, days }) => {
      return piece(tenantId, new Date(startedAt - days * DAY_MS)).catch((err: unknown) => {
        log.error({ err, tenant_id: tenantId }, 'what is old of a tenant was not erased')
        return false
      })
    })
  }

  return {
    async eraseOld() {
      const erased = new Map<TenantId, number>()
      const behind = new Map<TenantId, OldSession>()
      await ofOld(async (tenantId, before) => {
        const some = await eraseSome(tenantId, before, behind.get(tenantId) ?? null)
        erased.set(tenantId, (erased.get(tenantId) ?? 0) + some.erased)
        if (some.after) behind.set(tenantId, some.after)
        return some.after !== null
      })
      for (const [tenant_id, sessions] of erased) {
        if (sessions > 0) log.info({ tenant_id, sessions }, 'sessions were erased for their age')
      }
      return sumOf(erased.values())
    },
    async eraseUnplaced() {
      const erased: number[] = []
      await ofOld(async (tenantId, before) => {
        const [logs = 0, ...others] = await eraseUnplaced(db, tenantId, before, UNPLACED_AT_A_TIME)
        erased.push(logs)
        // What somebody holds is not among them: one page that is not full does not say that there are no more.
        return [logs, ...others].some((count) => count > 0)
      })
      return sumOf(erased)
    },
    async deleteOldSimulations() {
      const deleted: number[] = []
      await ofOld(async (tenantId, before) => {
        const count = await deleteOldSimulations(db, tenantId, before, SIMULATIONS_AT_A_TIME)
        deleted.push(count)
        return count === SIMULATIONS_AT_A_TIME
      })
      return sumOf(deleted)
    },
    removeAudio: makeErasedAudio(deps),
    async purgeDelivered() {
      const of = { before: new Date(clock.now() - DELIVERED_FOR_MS), limit: rowsAtATime }
      await inTurns({ clock, isStopping }, OUTBOX_TABLES, async (table) => {
        return (await purgeDeliveredAcrossTenants(db, table, of)) === rowsAtATime
      })
    },
  }
}

function sumOf(counts: Iterable<number>): number {
  return [...counts].reduce((sum, count) => sum + count, 0)
}
