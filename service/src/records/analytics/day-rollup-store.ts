import { sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import { tryLock } from '../../platform/db/advisory-locks.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import { DAY_MINUTES, NEARLY_DAY_MINUTES } from './rollup-ranges.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    call_day_changes: { tenant_id: TenantId; starts_at: Date; changed_at: Date }
  }
}

/** A day of UTC of which an hour was counted since its hours were added up. */
export type ChangedDay = { tenant_id: TenantId; starts_at: Date }

/** Which days are to be added up. `tenantId`: only of this one; null: of all. */
type DaysAsk = { tenantId: TenantId | null; now: Date; limit: number }

/**
 * The days that are to be added up, those first that have waited longest: those that are over and of which no hour is still to be
 * counted. One that has been added up before, in which calls change again and again, waits for an hour, and is read by its hours until then.
 */
export async function listChangedDaysAcrossTenants(db: Db, { tenantId, now, limit }: DaysAsk): Promise<ChangedDay[]> {
  const { rows } = await sql<ChangedDay>`
    select tenant_id, starts_at from call_day_changes note
     where starts_at <= ${now}::timestamptz - interval '1 day'
       and (changed_at <= ${now}::timestamptz - interval '1 hour'
            or not exists (select from call_rollups
                            where tenant_id = note.tenant_id and minutes = ${sql.lit(DAY_MINUTES)} and is_whole and starts_at = note.starts_at))
       and not exists (select from call_changes hour
                        where hour.tenant_id = note.tenant_id and hour.starts_at >= note.starts_at
                          and hour.starts_at < note.starts_at + interval '1 day')
       ${tenantId === null ? sql`` : sql`and tenant_id = ${tenantId}`}
     order by changed_at, tenant_id, starts_at limit ${limit}`.execute(db)
  return rows
}

/**
 * Adds hours up into the day and into all the 23 hours that it has a part in, in place of what was added up before. Of those that
 * lead into a day that is noted itself none is made: they are when that day is.
 *
 * @returns false when another one is at the tenant's days, has been at this one, or changes hours of the tenant: then nothing was done.
 */
export async function addUpDay(tx: Tx, { tenant_id: tenantId, starts_at: day }: ChangedDay): Promise<boolean> {
  if (!(await lockTenant(tx, tenantId)) || !(await takeNotes(tx, tenantId, day))) return false
  const noted = await notedNeighbours(tx, tenantId, day)
  for (const table of ['call_rollups', 'call_outcome_rollups'] as const) {
    await sql`
      delete from ${sql.table(table)}
       where tenant_id = ${tenantId} and minutes in (${nearlyDay}, ${wholeDay}) and is_whole in (true, false)
         and starts_at > ${day}::timestamptz - ${nearly} and starts_at < ${day}::timestamptz + interval '1 day'`.execute(
      tx,
    )
  }
  const bins: Bins = {
    day,
    first: noted.includes(day.getTime() - DAY_MS) ? day : new Date(day.getTime() - NEARLY_DAY_MS + HOUR_MS),
    last: new Date(day.getTime() + DAY_MS - (noted.includes(day.getTime() + DAY_MS) ? NEARLY_DAY_MS : HOUR_MS)),
  }
  await insertRollups(tx, tenantId, bins)
  await insertOutcomes(tx, tenantId, bins)
  return true
}

/** Puts a day behind all others that wait: what takes long and fails then holds up none of them for ever. */
export async function postponeDay(
  db: Db,
  { tenant_id: tenantId, starts_at: day }: ChangedDay,
  now: Date,
): Promise<void> {
  await db
    .updateTable('call_day_changes')
    .set({ changed_at: now })
    .where('tenant_id', '=', tenantId)
    .where('starts_at', '=', day)
    .execute()
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const NEARLY_DAY_MS = NEARLY_DAY_MINUTES * 60_000
const wholeDay = sql.lit(DAY_MINUTES)
const nearlyDay = sql.lit(NEARLY_DAY_MINUTES)
const nearly = sql`${nearlyDay} * interval '1 minute'`

/** Its days have parts in each other's spans. Who changes hours has the lock too, together with others who do. */
function lockTenant(tx: Tx, tenantId: TenantId): Promise<boolean> {
  return tryLock(tx, 'countedDays', tenantId)
}

/** Each statement sees what is committed when it begins: of an hour whose note goes here the ones after it see what was counted. */
async function takeNotes(tx: Tx, tenantId: TenantId, day: Date): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('call_day_changes')
    .where('tenant_id', '=', tenantId)
    .where('starts_at', '=', day)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Of the days before and behind it. */
async function notedNeighbours(tx: Tx, tenantId: TenantId, day: Date): Promise<number[]> {
  const around = [-DAY_MS, DAY_MS].map((ms) => new Date(day.getTime() + ms))
  const rows = await tx
    .selectFrom('call_day_changes')
    .select('starts_at')
    .distinct()
    .where('tenant_id', '=', tenantId)
    .where('starts_at', 'in', around)
    .execute()
  return rows.map(({ starts_at }) => starts_at.getTime())
}

/** A day, and when the first and the last of the 23 hours begin that are made with it. */
type Bins = { day: Date; first: Date; last: Date }

/** The hours that are added up, once for each longer span that they are a part of. */
function hoursOf(table: 'call_rollups' | 'call_outcome_rollups', tenantId: TenantId, { day, first, last }: Bins) {
  return sql`
      from ${sql.table(table)} hour
     cross join lateral (
           select ${wholeDay} as length, ${day}::timestamptz as bin
            where hour.starts_at >= ${day} and hour.starts_at < ${day}::timestamptz + interval '1 day'
            union all
           select ${nearlyDay}, bin
             from generate_series(greatest(${first}, hour.starts_at - ${nearly} + interval '1 hour'), least(${last}, hour.starts_at),
                                  interval '1 hour') bin) longer
     where tenant_id = ${tenantId} and minutes = 60 and is_whole in (true, false)
       and starts_at >= least(${day}, ${first}::timestamptz) and starts_at < greatest(${day}::timestamptz + interval '1 day', ${last}::timestamptz + ${nearly})`
}

async function insertRollups(tx: Tx, tenantId: TenantId, bins: Bins): Promise<void> {
  const summed = sql.join(ADDED_UP.map((name) => sql`sum(${sql.ref(name)})`))
  const columns = sql.join(ADDED_UP.map((name) => sql.ref(name)))
  await sql`
    insert into call_rollups (tenant_id, minutes, is_whole, starts_at, agent_key, agent_version_id, version_number, ${columns})
    select ${tenantId}, length, is_whole, bin, agent_key, agent_version_id, max(version_number), ${summed}
    ${hoursOf('call_rollups', tenantId, bins)}
     group by length, is_whole, bin, agent_key, agent_version_id`.execute(tx)
}

const ADDED_UP = [
  ...(['calls', 'answered', 'completed', 'busy', 'failed', 'no_answer', 'canceled', 'escalated'] as const),
  ...(['talk_seconds', 'costed', 'cost_usd', 'interruptions', 'scored', 'high_quality', 'score_sum'] as const),
  'response_times' as const,
]

/** As many are told apart as in all of the hours: an answer is the same by whatever spans it is added up. */
async function insertOutcomes(tx: Tx, tenantId: TenantId, bins: Bins): Promise<void> {
  await sql`
    insert into call_outcome_rollups (tenant_id, minutes, is_whole, starts_at, agent_key, agent_version_id, outcome, calls)
    select ${tenantId}, length, is_whole, bin, agent_key, agent_version_id, outcome, sum(calls)
    ${hoursOf('call_outcome_rollups', tenantId, bins)}
     group by length, is_whole, bin, agent_key, agent_version_id, outcome`.execute(tx)
}
