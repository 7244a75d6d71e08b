import { OUTBOX_TABLES } from '../../delivery/outbox-store.ts'
import { purgeDeliveredAcrossTenants } from '../../delivery/purge-store.ts'
import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { inTurns } from '../../kernel/in-turns.ts'
import type { Db } from '../../platform/db/schema.ts'
import type { Log } from '../../platform/log.ts'
import { isDatabaseTrouble } from '../../records/database-trouble.ts'
import type { RecordingFiles } from '../../records/recording-files.ts'
import { deleteOldSimulations } from '../../records/simulations/simulation-store.ts'
import type { EraseSession } from './erase-session.ts'
import {
  type ErasedUntil,
  forgetErasedRecordingsAcrossTenants,
  listErasedRecordingsAcrossTenants,
  listOldSessions,
  listRetentionsAcrossTenants,
  type OldSession,
} from './erase-store.ts'
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

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'info' | 'error'>
  erase: EraseSession
  files: Pick<RecordingFiles, 'remove'>
  /** Whether the service stops: then nothing more is begun. */
  isStopping: () => boolean
  /** Of how many sessions the files are removed in one go, a hundred of which a run does; fewer for tests. */
  recordingsAtATime?: number
  /** How many rows of an outbox are deleted in one statement; fewer for tests. */
  rowsAtATime?: number
}

const DAY_MS = 86_400_000
/** In one go, of one tenant, so that none waits for the others. */
const SESSIONS_AT_A_TIME = 50
const SIMULATIONS_AT_A_TIME = 50
const UNPLACED_AT_A_TIME = 1_000
const RECORDINGS_AT_A_TIME = 1_000
const PAGES_AT_A_TIME = 100
const FIRST_ID = '00000000-0000-0000-0000-000000000000'
const ROWS_AT_A_TIME = 5_000
const DELIVERED_FOR_MS = 30 * DAY_MS
/** Longer than a node is away, and comes back with its disk. */
const NOTED_FOR_MS = 90 * DAY_MS
/** Whoever was still writing the end of a recording when it was erased has written it by then. */
const LOOK_AGAIN_MS = 3_600_000

export function makeRetention({ db, clock, log, erase, files, isStopping, ...bounds }: Deps): Retention {
  const { recordingsAtATime = RECORDINGS_AT_A_TIME, rowsAtATime = ROWS_AT_A_TIME } = bounds
  /** What was noted before was looked at an hour after it was; a process starts with all that is noted. */
  let doneBefore = new Date(0)
  /** A walk through what is noted that has not come to its end: the next run goes on with it. */
  let walk: { begunMs: number; until: ErasedUntil } | null = null

  /** @returns up to where, and whether there may be more. */
  async function removeSome(since: ErasedUntil): Promise<{ until: ErasedUntil; isMore: boolean }> {
    const erased = await listErasedRecordingsAcrossTenants(db, since, recordingsAtATime)
    let until = since
    for (const { tenant_id, session_id, erased_at } of erased) {
      if (isStopping()) return { until, isMore: false }
      // What cannot be removed now is tried again within the hour, and keeps nothing else.
      await files.remove(tenant_id, session_id).catch((err: unknown) => {
        log.error({ err, tenant_id, voice_session_id: session_id }, 'the files of an erased session were not removed')
      })
      until = { at: erased_at, id: session_id }
    }
    return { until, isMore: erased.length === recordingsAtATime }
  }

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
    async removeAudio() {
      walk ??= { begunMs: clock.now(), until: { at: doneBefore, id: FIRST_ID } }
      let isMore = true
      for (let page = 0; isMore && page < PAGES_AT_A_TIME; page += 1) {
        const some = await removeSome(walk.until)
        walk.until = some.until
        isMore = some.isMore
      }
      if (!isMore) {
        doneBefore = new Date(walk.begunMs - LOOK_AGAIN_MS)
        walk = null
      }
      await forgetErasedRecordingsAcrossTenants(db, new Date(clock.now() - NOTED_FOR_MS))
    },
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
