import { sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import { noteForCommit } from '../../platform/db/commits.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import type { SessionId } from '../call-values.ts'

/** A session that is still to be scored. */
type ScoringRow = {
  tenant_id: TenantId
  session_id: SessionId
  ended_at: Date
  due_at: Date
  attempts: number
  claim_token: string | null
  leased_until: Date | null
}

declare module '../../platform/db/schema.ts' {
  interface Schema {
    session_scorings: ScoringRow
  }
}

/** What those listen to who score sessions: a tenant has one that is to be scored. */
export const SCORINGS_TOPIC = 'session_scorings'

/** Has a session scored from `dueAt` on. Pass the transaction that ended it; a repeat changes nothing. */
export async function insertScoring(
  tx: Tx,
  tenantId: TenantId,
  { sessionId, endedAt, dueAt }: { sessionId: SessionId; endedAt: Date; dueAt: Date },
): Promise<void> {
  await tx
    .insertInto('session_scorings')
    .values({
      ...{ tenant_id: tenantId, session_id: sessionId, ended_at: endedAt, due_at: dueAt, attempts: 0 },
      ...{ claim_token: null, leased_until: null },
    })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'session_id']).doNothing())
    .execute()
  noteForCommit(tx, SCORINGS_TOPIC, tenantId)
}

/** A session that is ours to score as long as the lease runs and nobody else has claimed it. */
export type ClaimedScoring = {
  tenantId: TenantId
  sessionId: SessionId
  endedAt: Date
  /** With this one. */
  attempts: number
  claimToken: string
}

/** `after`: whose turn it was last, null before the first; `except`: those that get none now. */
type Claim = { now: Date; leaseMs: number; except: readonly TenantId[]; after: TenantId | null }

/**
 * Claims the session that has been due for longest of the next tenant that has one, behind `after` and then from the first one
 * on, under a new token; null when none is due. Whoever asks at the same time gets another. What is not settled when the lease
 * is over, by the database's clock, can be claimed again.
 *
 * However much waits of the tenants that are passed over, each costs a step of an index.
 */
export async function claimScoringAcrossTenants(
  db: Db,
  { now, leaseMs, except, after }: Claim,
): Promise<ClaimedScoring | null> {
  // No tenant has an empty name.
  const behind = after ?? ''
  // Behind the last tenant comes the first one, and so on until `behind`.
  const { rows } = await sql<ClaimedScoring>`
    with recursive waiting (tenant_id, lap) as (
      select (select min(tenant_id) from session_scorings where tenant_id > ${behind}), 1
      union all
      select (select min(next.tenant_id) from session_scorings next where next.tenant_id > coalesce(waiting.tenant_id, '')),
             case when waiting.tenant_id is null then 2 else waiting.lap end
        from waiting where waiting.lap = 1 or waiting.tenant_id <= ${behind}),
    picked as materialized (
      select due.tenant_id, due.session_id
        from waiting
       cross join lateral (
             select tenant_id, session_id from session_scorings scoring
              where scoring.tenant_id = waiting.tenant_id and due_at <= ${now} and (leased_until is null or leased_until <= now())
              order by due_at, session_id limit 1 for update skip locked) due
       where waiting.tenant_id <> all (${except}::text[]) and (waiting.lap = 1 or waiting.tenant_id <= ${behind})
       limit 1)
    update session_scorings row
       set claim_token = gen_random_uuid(), attempts = attempts + 1,
           leased_until = now() + ${leaseMs} * interval '1 millisecond'
      from picked
     where row.tenant_id = picked.tenant_id and row.session_id = picked.session_id
    returning row.tenant_id as "tenantId", row.session_id as "sessionId", row.ended_at as "endedAt", row.attempts,
              row.claim_token as "claimToken"`.execute(db)
  return rows[0] ?? null
}

/** Takes a claimed session off the list. False when it is not held by this token any more: then nothing may be written. */
export async function settleScoring(tx: Tx, { tenantId, sessionId, claimToken }: ClaimedScoring): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('session_scorings')
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .where('claim_token', '=', claimToken)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Whether a claimed session is held by this token still, and until the transaction ends: else nothing may be written. */
export async function holdsScoring(tx: Tx, { tenantId, sessionId, claimToken }: ClaimedScoring): Promise<boolean> {
  const row = await tx
    .selectFrom('session_scorings')
    .select('session_id')
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .where('claim_token', '=', claimToken)
    .forUpdate()
    .executeTakeFirst()
  return row !== undefined
}

/** Gives a claimed session back, to be scored from `dueAt` on, with as many attempts as it says. */
export async function releaseScoring(db: Db, claimed: ClaimedScoring, dueAt: Date): Promise<void> {
  await db
    .updateTable('session_scorings')
    .set({ due_at: dueAt, attempts: claimed.attempts, claim_token: null, leased_until: null })
    .where('tenant_id', '=', claimed.tenantId)
    .where('session_id', '=', claimed.sessionId)
    .where('claim_token', '=', claimed.claimToken)
    .execute()
}

/** Takes a session off the list, whoever is at it: it was scored otherwise. */
export async function dropScoring(tx: Tx, tenantId: TenantId, sessionId: SessionId): Promise<void> {
  await tx
    .deleteFrom('session_scorings')
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .execute()
}

/** Ends all leases: for the start of a process that is the only one on its database, so that who held them is gone. */
export async function endScoringLeasesAcrossTenants(db: Db): Promise<void> {
  await db.updateTable('session_scorings').set({ leased_until: null }).where('leased_until', 'is not', null).execute()
}
