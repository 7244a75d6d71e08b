import { type Generated, sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import { takeLock, tryLock } from '../../platform/db/advisory-locks.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    /** `failed_at`: when it could not be counted last. */
    call_changes: { tenant_id: TenantId; starts_at: Date; changed_at: Date; failed_at: Generated<Date | null> }
  }
}

/** An hour of UTC in whose calls something has changed since they were counted. */
export type ChangedHour = { tenant_id: TenantId; starts_at: Date }

/** What agents record as the outcome are words of theirs: a span keeps as many, those that occur most. */
const OUTCOMES_KEPT = 50
const OUTCOME_CHARS = 100

/**
 * The hours that are to be counted, those that have waited longest first, of one that could not be counted since then. `tenantId`: only
 * of this one; null: of all.
 */
export async function listChangedHoursAcrossTenants(
  db: Db,
  { tenantId, limit }: { tenantId: TenantId | null; limit: number },
): Promise<ChangedHour[]> {
  return db
    .selectFrom('call_changes')
    .select(['tenant_id', 'starts_at'])
    .$if(tenantId !== null, (query) => query.where('tenant_id', '=', tenantId as TenantId))
    .groupBy(['tenant_id', 'starts_at'])
    .orderBy(sql`greatest(min(changed_at), max(failed_at))`)
    .orderBy('tenant_id')
    .orderBy('starts_at')
    .limit(limit)
    .execute()
}

/** Puts an hour behind all others that wait: what takes long and fails then holds up none of them for ever. */
export async function postponeHour(db: Db, { tenant_id: tenantId, starts_at: hour }: ChangedHour): Promise<void> {
  await db
    .updateTable('call_changes')
    // By the clock by which changes are noted.
    .set({ failed_at: sql<Date>`now()` })
    .where('tenant_id', '=', tenantId)
    .where('starts_at', '=', hour)
    .execute()
}

/** Since when something has waited to be counted; null: all of the tenants' calls is. Null for all tenants. */
export async function oldestChange(db: Db, tenantId: TenantId | null): Promise<Date | null> {
  const row = await db
    .selectFrom('call_changes')
    .select((eb) => eb.fn.min('changed_at').as('oldest'))
    .$if(tenantId !== null, (query) => query.where('tenant_id', '=', tenantId as TenantId))
    .executeTakeFirst()
  return row?.oldest ?? null
}

/**
 * Counts an hour from the calls as they are now, in place of what was counted of it before. A change that is not committed yet
 * keeps its note, so the hour is counted again.
 *
 * @returns false when another one is at it, or was: then nothing was done.
 */
export async function countHour(tx: Tx, { tenant_id: tenantId, starts_at: hour }: ChangedHour): Promise<boolean> {
  if (!(await tryLock(tx, 'countedHour', nameOf(tenantId, hour)))) return false
  // Each statement sees what is committed when it begins: whoever made a change whose note goes here is counted below.
  const { numDeletedRows } = await tx
    .deleteFrom('call_changes')
    .where('tenant_id', '=', tenantId)
    .where('starts_at', '=', hour)
    .executeTakeFirst()
  if (numDeletedRows === 0n) return false
  for (const table of ['call_rollups', 'call_outcome_rollups']) {
    await sql`
      delete from ${sql.table(table)}
       where tenant_id = ${tenantId} and minutes in (15, 60) and is_whole in (true, false) and starts_at >= ${hour}
         and starts_at < ${hour}::timestamptz + interval '1 hour'`.execute(tx)
  }
  await insertRollups(tx, tenantId, hour)
  await insertOutcomes(tx, tenantId, hour)
  return true
}

/**
 * Takes the words of agents out of what was counted in the hour of a call, and waits for whoever counts it. The hour is counted
 * again, without those of it.
 */
export async function forgetOutcomes(tx: Tx, tenantId: TenantId, callSid: string): Promise<void> {
  const { rows } = await sql<{ hour: Date }>`
    select date_trunc('hour', created_at, 'UTC') as hour from call_logs
     where tenant_id = ${tenantId} and call_sid = ${callSid}`.execute(tx)
  for (const { hour } of rows) {
    await takeLock(tx, 'countedHour', nameOf(tenantId, hour))
    await sql`
      delete from call_outcome_rollups
       where tenant_id = ${tenantId} and minutes in (15, 60) and is_whole in (true, false) and starts_at >= ${hour}
         and starts_at < ${hour}::timestamptz + interval '1 hour'`.execute(tx)
  }
}

function nameOf(tenantId: TenantId, hour: Date): string {
  return `${tenantId} ${hour.toISOString()}`
}

/** The calls of an hour, with what their sessions came to; an erased session has nothing to say. */
function callsOf(tenantId: TenantId, hour: Date) {
  return sql`
    select log.agent_key, log.agent_version_id, log.version_number, log.status, log.answered_at, log.escalated,
           date_bin('15 minutes', log.created_at, ${hour}::timestamptz) as quarter,
           case when log.ended_at is null then 0
                else coalesce(log.duration_seconds,
                              greatest(0, round(extract(epoch from log.ended_at - log.answered_at)))::integer, 0)
           end as talk_seconds,
           log.cost_usd::numeric as cost_usd,
           (session.latency ->> 'interruptions')::integer as interruptions,
           (session.latency ->> 'response_times')::numeric as response_times,
           (session.qa ->> 'score')::numeric as score,
           (session.qa ->> 'high_quality')::boolean as high_quality,
           nullif(left(trim(session.outcome), ${sql.lit(OUTCOME_CHARS)}), '') as outcome
      from call_logs log
      left join voice_sessions session on session.tenant_id = log.tenant_id and session.id = log.voice_session_id
     where log.tenant_id = ${tenantId} and log.created_at >= ${hour}
       and log.created_at < ${hour}::timestamptz + interval '1 hour'`
}

/** By the quarter and the hour, each by version and as a whole. `outcome` stands in each of them where it is given. */
function spans(outcome?: string) {
  const sets = [[], ['quarter'], ['agent_key', 'agent_version_id'], ['quarter', 'agent_key', 'agent_version_id']]
  const named = sets.map((set) => [...set, ...(outcome === undefined ? [] : [outcome])])
  return sql`grouping sets (${sql.join(named.map((set) => sql`(${sql.join(set.map((name) => sql.ref(name)))})`))})`
}

const minutes = sql`case when grouping(quarter) = 0 then 15 else 60 end`
const isWhole = sql`grouping(agent_key) = 1`
const startsAt = (hour: Date) => sql`case when grouping(quarter) = 0 then quarter else ${hour}::timestamptz end`

async function insertRollups(tx: Tx, tenantId: TenantId, hour: Date): Promise<void> {
  await sql`
    insert into call_rollups (tenant_id, minutes, is_whole, starts_at, agent_key, agent_version_id, version_number, calls,
                              answered, completed, busy, failed, no_answer, canceled, escalated, talk_seconds, costed,
                              cost_usd, interruptions, scored, high_quality, score_sum, response_times)
    select ${tenantId}, ${minutes}, ${isWhole}, ${startsAt(hour)}, agent_key, agent_version_id, max(version_number), count(*),
           count(answered_at), count(*) filter (where status = 'completed'), count(*) filter (where status = 'busy'),
           count(*) filter (where status = 'failed'), count(*) filter (where status = 'no-answer'),
           count(*) filter (where status = 'canceled'), count(*) filter (where escalated), sum(talk_seconds),
           count(cost_usd), coalesce(sum(cost_usd), 0), coalesce(sum(interruptions), 0), count(score), count(*) filter (where high_quality), coalesce(sum(score), 0),
           sum(response_times)
      from (${callsOf(tenantId, hour)}) calls
     group by ${spans()}
    having count(*) > 0`.execute(tx)
}

async function insertOutcomes(tx: Tx, tenantId: TenantId, hour: Date): Promise<void> {
  await sql`
    with counted as (
      select ${minutes} as minutes, ${isWhole} as is_whole, ${startsAt(hour)} as starts_at, agent_key, agent_version_id,
             outcome, count(*) as calls
        from (${callsOf(tenantId, hour)}) calls
       where outcome is not null
       group by ${spans('outcome')}),
    ranked as (
      select *, row_number() over (partition by minutes, is_whole, starts_at, agent_key, agent_version_id
                                       order by calls desc, outcome) <= ${sql.lit(OUTCOMES_KEPT)} as is_kept
        from counted)
    insert into call_outcome_rollups (tenant_id, minutes, is_whole, starts_at, agent_key, agent_version_id, outcome, calls)
    select ${tenantId}, minutes, is_whole, starts_at, agent_key, agent_version_id, case when is_kept then outcome end, sum(calls)
      from ranked
     group by 2, 3, 4, 5, 6, 7`.execute(tx)
}
