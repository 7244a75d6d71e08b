import { type SqlBool, sql } from 'kysely'
import type { Db } from '../platform/db/schema.ts'
import type { AttemptResult, ClaimedRow, LoggedAttempt } from './attempt.ts'
import { OUTBOX_TABLES, type OutboxStatus, type OutboxTable } from './outbox-store.ts'

type Due = { now: Date; limit: number }

/** Attempts of one row that are kept. */
const KEPT_ATTEMPTS = 20

/**
 * The tenants behind `after`, or all when it is null, that have something due, in their order: one step of an index for each tenant that waits for
 * something, however much that is. The `offset` keeps the database from making a join of it, which would come in the order of what is due,
 * and a page of that order passes tenants over.
 */
export async function dueTenantsAcrossTenants(
  db: Db,
  table: OutboxTable,
  { now, limit, after }: Due & { after: string | null },
): Promise<string[]> {
  const outbox = sql.table(table)
  // What is of no tenant comes first, under an empty name.
  const isBehind = after === null ? sql<SqlBool>`true` : sql<SqlBool>`tenant_id > ${after}`
  const { rows } = await sql<{ tenant_id: string }>`
    with recursive waiting (tenant_id) as (
      (select tenant_id from ${outbox} where status = 'pending' and ${isBehind} order by tenant_id limit 1)
      union all
      select (select next.tenant_id from ${outbox} next
               where next.status = 'pending' and next.tenant_id > waiting.tenant_id order by next.tenant_id limit 1)
        from waiting where waiting.tenant_id is not null)
    select tenant_id from waiting
     where tenant_id is not null
       and exists (select from ${outbox} due
                    where due.tenant_id = waiting.tenant_id and due.status = 'pending' and due.due_at <= ${now} offset 0)
     limit ${limit}`.execute(db)
  return rows.map(({ tenant_id }) => tenant_id)
}

type Claim = Due & { leaseMs: number }

/**
 * What is not one of thousands: sent for the first time round, and of no list of numbers. To the letter the condition of
 * `webhook_outbox_prompt`, or a claim would read all of those thousands.
 */
const IS_PROMPT = sql<SqlBool>`attempts_before = 0 and not (event like 'dnc.%' and call_sid is null)`
/** By this much the rest stands back: longer than thousands take, and not so long that what never stops keeps them for good. */
const STANDS_BACK = sql`interval '24 hours'`

/**
 * Claims up to `limit` due rows of each of these tenants under a new token each: the oldest first, but what was sent before
 * and lists of numbers behind the rest. Whoever asks at the same time gets other rows. What is not settled when the lease is
 * over, by the database's clock, can be claimed again.
 */
export async function claimDueAcrossTenants(
  db: Db,
  table: OutboxTable,
  { tenantIds, now, limit, leaseMs }: Claim & { tenantIds: string[] },
): Promise<ClaimedRow[]> {
  const outbox = sql.table(table)
  const { rows } = await sql<StoredClaim>`
    with picked as materialized (
      select asked.tenant_id, due.id
        from unnest(${tenantIds}::text[]) as asked (tenant_id)
       cross join lateral (
             select id from (
               select * from (
                 select id, sequence, due_at as turn from ${outbox} waiting
                  where waiting.tenant_id = asked.tenant_id and ${isFree(now)} and ${IS_PROMPT}
                  order by due_at, sequence, id limit ${limit} for update skip locked) prompt
               union all
               select * from (
                 select id, sequence, due_at + ${STANDS_BACK} as turn from ${outbox} waiting
                  where waiting.tenant_id = asked.tenant_id and ${isFree(now)}
                  order by due_at, sequence, id limit ${limit} for update skip locked) oldest) found
              group by id, sequence order by min(turn), sequence, id limit ${limit}) due)
    ${claimed(table, leaseMs)}`.execute(db)
  return inOrder(rows)
}

/** The same for the `limit` oldest rows of all tenants. */
export async function claimOldestAcrossTenants(
  db: Db,
  table: OutboxTable,
  { now, limit, leaseMs }: Claim,
): Promise<ClaimedRow[]> {
  const { rows } = await sql<StoredClaim>`
    with picked as materialized (
      select tenant_id, id from ${sql.table(table)} waiting
       where ${isFree(now)} order by due_at, id limit ${limit} for update skip locked)
    ${claimed(table, leaseMs)}`.execute(db)
  return inOrder(rows)
}

type StoredClaim = ClaimedRow & { due_at: Date }

function isFree(now: Date) {
  return sql<SqlBool>`status = 'pending' and due_at <= ${now} and (leased_until is null or leased_until <= now())`
}

function claimed(table: OutboxTable, leaseMs: number) {
  return sql`
    update ${sql.table(table)} row
       set claim_token = gen_random_uuid(), attempts = attempts + 1,
           leased_until = now() + ${leaseMs} * interval '1 millisecond'
      from picked
     where row.tenant_id = picked.tenant_id and row.id = picked.id
    returning row.tenant_id as "tenantId", row.id, row.claim_token as "claimToken", row.event, row.call_sid as "callSid",
              row.sequence, row.body::text as body, row.attempts, row.attempts_before as "attemptsBefore", row.due_at,
              (select count(*)::integer from jsonb_array_elements(row.attempt_log) ended
                where coalesce((ended ->> 'attempt')::integer, 1) > row.attempts_before) as "endedBefore"`
}

/** An update gives its rows in any order. */
function inOrder(rows: StoredClaim[]): ClaimedRow[] {
  return rows
    .sort((a, b) => a.due_at.getTime() - b.due_at.getTime() || (a.sequence ?? 0) - (b.sequence ?? 0))
    .map(({ due_at: _at, ...row }) => row)
}

/** What became of a claimed row: `dueAt` is when it comes next, if it does. */
export type Settlement = {
  status: OutboxStatus
  dueAt: Date
  deliveredAt: Date | null
  result: AttemptResult
  attempt: LoggedAttempt
}

/** Writes down what came of an attempt. False when the row is not held by this token any more: then nothing is written. */
export async function settle(
  db: Db,
  table: OutboxTable,
  { tenantId, id, claimToken }: ClaimedRow,
  { status, dueAt, deliveredAt, result, attempt }: Settlement,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update ${sql.table(table)}
       set status = ${status}, due_at = ${dueAt}, delivered_at = ${deliveredAt}, claim_token = null, leased_until = null,
           url = ${result.url}, last_status_code = ${result.statusCode}::integer, last_error = ${result.error},
           attempt_log = (case when jsonb_array_length(attempt_log) < ${KEPT_ATTEMPTS} then attempt_log
                               else attempt_log - 0 end) || ${JSON.stringify([attempt])}::jsonb
     where tenant_id = ${tenantId} and id = ${id} and claim_token = ${claimToken}`.execute(db)
  return numAffectedRows > 0n
}

/**
 * Gives a claimed row back that was not sent, or not to its end: the attempt is not counted.
 *
 * @param dueAt when it is to be tried again; null: when it was due before, which is at once.
 */
export async function release(
  db: Db,
  table: OutboxTable,
  { tenantId, id, claimToken }: ClaimedRow,
  dueAt: Date | null = null,
): Promise<void> {
  await sql`
    update ${sql.table(table)}
       set attempts = attempts - 1, claim_token = null, leased_until = null,
           due_at = coalesce(${dueAt}::timestamptz, due_at)
     where tenant_id = ${tenantId} and id = ${id} and claim_token = ${claimToken}`.execute(db)
}

/** Ends all leases: for the start of a process that is the only one on its database, so that who held them is gone. */
export async function endLeasesAcrossTenants(db: Db, table: OutboxTable): Promise<void> {
  await sql`
    update ${sql.table(table)} set leased_until = null
     where status = 'pending' and leased_until is not null`.execute(db)
}

/** How many rows of each status a table has, over all tenants. */
export async function depthAcrossTenants(db: Db, table: OutboxTable): Promise<Record<OutboxStatus, number>> {
  const { rows } = await sql<{ status: OutboxStatus; count: number }>`
    select status, count(*)::integer as count from ${sql.table(table)} group by status`.execute(db)
  const counts = { pending: 0, delivered: 0, failed: 0 }
  for (const { status, count } of rows) counts[status] = count
  return counts
}

/** How many rows of each table are to be delivered yet, over all tenants, by an index and without a look at the others: `most` are counted at most. */
export async function waitingAcrossTenants(db: Db, most: number): Promise<Record<OutboxTable, number>> {
  const countOf = (table: OutboxTable) => sql`
    (select count(*)::integer from (
       select from ${sql.table(table)} where status = 'pending' order by tenant_id, due_at, sequence, id limit ${most}) row)`
  const { rows } = await sql<Record<OutboxTable, number>>`
    select ${sql.join(OUTBOX_TABLES.map((table) => sql`${countOf(table)} as ${sql.ref(table)}`))}`.execute(db)
  return rows[0] ?? { webhook_outbox: 0, billing_outbox: 0, notification_outbox: 0 }
}
