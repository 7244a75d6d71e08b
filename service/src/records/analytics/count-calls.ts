import type { Clock } from '../../kernel/clock.ts'
import { FAILED_INSIDE } from '../../kernel/errors.ts'
import type { TenantId } from '../../kernel/ids.ts'
import type { Db } from '../../platform/db/schema.ts'
import type { Log } from '../../platform/log.ts'
import { addUpDay, type ChangedDay, listChangedDaysAcrossTenants, postponeDay } from './day-rollup-store.ts'
import { type ChangedHour, countHour, listChangedHoursAcrossTenants, postponeHour } from './rollup-store.ts'

/** What a sweep is asked for. `tenantId`: the only tenant whose hours are counted; null for all. As many days are added up at most. */
export type CountAsk = { tenantId: TenantId | null; limitHours: number }

/** What a sweep came to. `has_more`: there is something left to be counted. */
export type CountResult = {
  counted_hours: number
  has_more: boolean
  failures: { tenant_id: TenantId; starts_at: Date; error: string }[]
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'error'>
  /** Whether the service stops: then nothing more is begun. */
  isStopping: () => boolean
}

/** Somebody may wait for the answer: nothing is begun after this. */
const BEGINS_WITHIN_MS = 20_000

/**
 * Counts the hours in whose calls something has changed, those that have waited longest first. An hour that another node is at is
 * left to it. What fails with one hour holds up no other: it comes behind all of them. Then the hours of days that are over are added up: until they are, answers are
 * the same, and take longer.
 *
 * @throws what the database throws when it cannot be asked for hours or days, or told of one that failed.
 */
export async function countCalls(deps: Deps, ask: CountAsk): Promise<CountResult> {
  const { db, clock, log, isStopping } = deps
  const { tenantId, limitHours } = ask
  const endsMs = clock.monotonicMs() + BEGINS_WITHIN_MS
  const mayBegin = () => !isStopping() && clock.monotonicMs() < endsMs
  const hours = await listChangedHoursAcrossTenants(db, { tenantId, limit: limitHours + 1 })
  const failures: CountResult['failures'] = []
  let [counted, begun] = [0, 0]

  async function count(hour: ChangedHour): Promise<void> {
    try {
      if (await db.transaction().execute((tx) => countHour(tx, hour))) counted += 1
    } catch (err) {
      // Where it takes no changes it is the sweep that fails, and not each hour.
      await postponeHour(db, hour)
      log.error({ err, ...hour }, 'the calls of an hour were not counted')
      failures.push({ ...hour, error: FAILED_INSIDE })
    }
  }

  for (const hour of hours.slice(0, limitHours)) {
    if (!mayBegin()) break
    begun += 1
    await count(hour)
  }
  if (mayBegin()) await addUpDays(deps, ask, mayBegin)
  return { counted_hours: counted, has_more: begun < hours.length || failures.length > 0, failures }
}

async function addUpDays({ db, clock, log }: Deps, ask: CountAsk, mayBegin: () => boolean): Promise<void> {
  const { tenantId, limitHours: limit } = ask
  const now = () => new Date(clock.now())
  async function addUp(day: ChangedDay): Promise<void> {
    try {
      await db.transaction().execute((tx) => addUpDay(tx, day))
    } catch (err) {
      await postponeDay(db, day, now())
      log.error({ err, ...day }, 'the hours of a day were not added up')
    }
  }

  const days = await listChangedDaysAcrossTenants(db, { tenantId, now: now(), limit })
  for (const day of days) {
    if (!mayBegin()) break
    await addUp(day)
  }
}
