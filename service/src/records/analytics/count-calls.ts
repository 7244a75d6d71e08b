import type { Clock } from '../../kernel/clock.ts'
import type { TenantId } from '../../kernel/ids.ts'
import type { Db } from '../../platform/db/schema.ts'
import type { Log } from '../../platform/log.ts'
import { type ChangedHour, countHour, listChangedHoursAcrossTenants } from './rollup-store.ts'

/** What a sweep is asked for. `tenantId`: the only tenant whose hours are counted; null for all. */
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
const FAILED = 'This failed inside the service: its log says why.'

/**
 * Counts the hours in whose calls something has changed, those that have waited longest first. An hour that another node is at is
 * left to it. What fails with one hour holds up no other.
 *
 * @throws what the database throws when it cannot be asked for hours.
 */
export async function countCalls({ db, clock, log, isStopping }: Deps, ask: CountAsk): Promise<CountResult> {
  const { tenantId, limitHours } = ask
  const endsMs = clock.monotonicMs() + BEGINS_WITHIN_MS
  const hours = await listChangedHoursAcrossTenants(db, { tenantId, limit: limitHours + 1 })
  const failures: CountResult['failures'] = []
  let [counted, begun] = [0, 0]

  async function count(hour: ChangedHour): Promise<void> {
    try {
      if (await db.transaction().execute((tx) => countHour(tx, hour))) counted += 1
    } catch (err) {
      log.error({ err, ...hour }, 'the calls of an hour were not counted')
      failures.push({ ...hour, error: FAILED })
    }
  }

  for (const hour of hours.slice(0, limitHours)) {
    if (isStopping() || clock.monotonicMs() >= endsMs) break
    begun += 1
    await count(hour)
  }
  return { counted_hours: counted, has_more: begun < hours.length || failures.length > 0, failures }
}
