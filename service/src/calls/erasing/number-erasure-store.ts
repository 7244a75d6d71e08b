import { sql } from 'kysely'
import type { Actor } from '../../kernel/actor.ts'
import type { TenantId } from '../../kernel/ids.ts'
import type { PagePosition } from '../../kernel/pages.ts'
import { isAfter } from '../../platform/db/newest-first.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'

/** How much of each kind was erased, by the names that the receipt has. */
export type NumberCounts = Partial<Record<CountedKind, number>>

export const COUNTED_KINDS = [
  ...(['voice_sessions', 'transcript_turns', 'function_calls', 'recording_parts', 'call_logs'] as const),
  ...([
    'callback_tasks',
    'campaign_contacts',
    'supervisor_actions',
    'deliveries',
    'idempotency_keys',
    'mentions',
  ] as const),
] as const
export type CountedKind = (typeof COUNTED_KINDS)[number]

/** Which step a request is at, and the key of the last row that the step has looked at: null before the first one. */
export type ErasureProgress = { step: string; after: string[] | null }

/** A request to erase a number, which becomes its receipt. */
export type NumberErasureRow = {
  tenant_id: TenantId
  id: string
  phone_hash: string
  phone_masked: string
  /** Null once it is done. */
  phone_sealed: string | null
  actor_kind: Actor['kind']
  actor: string
  actor_id: string | null
  counts: NumberCounts
  /** Up to where it was done; null before its beginning. */
  progress: ErasureProgress | null
  claim_token: string | null
  leased_until: Date | null
  created_at: Date
  completed_at: Date | null
}

declare module '../../platform/db/schema.ts' {
  interface Schema {
    number_erasures: NumberErasureRow
  }
}

/** Writes a request down; false when the number is being erased already. */
export async function insertNumberErasure(tx: Tx, tenantId: TenantId, row: NumberErasureRow): Promise<boolean> {
  const inserted = await tx
    .insertInto('number_erasures')
    .values({ ...row, tenant_id: tenantId })
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'phone_hash']).where('completed_at', 'is', null).doNothing(),
    )
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

export function findNumberErasure(db: Db, tenantId: TenantId, id: string): Promise<NumberErasureRow | undefined> {
  return db
    .selectFrom('number_erasures')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** The one of the number that is not done. */
export function findOpenErasure(db: Db, tenantId: TenantId, phoneHash: string): Promise<NumberErasureRow | undefined> {
  return db
    .selectFrom('number_erasures')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('phone_hash', '=', phoneHash)
    .where('completed_at', 'is', null)
    .executeTakeFirst()
}

/** Newest first. */
export function listNumberErasures(
  db: Db,
  tenantId: TenantId,
  { limit, offset, after }: { limit: number; offset: number; after: PagePosition | null },
): Promise<NumberErasureRow[]> {
  return db
    .selectFrom('number_erasures')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where(isAfter('number_erasures', after))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
}

export type ClaimedErasure = NumberErasureRow & { phone_sealed: string; claim_token: string }

/**
 * Claims a request that is not done and that nobody is at, the oldest one unless it is named, under a new token; null when there is
 * none. By the database's clock.
 */
export async function claimErasureAcrossTenants(
  db: Db,
  { id, leaseMs, except }: { id: string | null; leaseMs: number; except: string[] },
): Promise<ClaimedErasure | null> {
  const named = id === null ? sql`true` : sql`id = ${id}`
  const left = except.length === 0 ? sql`true` : sql`id <> all(${except}::uuid[])`
  const { rows } = await sql<ClaimedErasure>`
    with picked as materialized (
      select tenant_id, id from number_erasures waiting
       where completed_at is null and (leased_until is null or leased_until <= now()) and ${named} and ${left}
       order by created_at, id limit 1 for update skip locked)
    update number_erasures row
       set claim_token = gen_random_uuid(), leased_until = now() + ${leaseMs} * interval '1 millisecond'
      from picked
     where row.tenant_id = picked.tenant_id and row.id = picked.id
    returning row.*`.execute(db)
  return rows[0] ?? null
}

/**
 * Adds to what was erased, notes up to where that was, and goes on holding the request, in the transaction that erases. False when it is not held by this claim
 * any more: then nothing may be erased under it.
 */
export async function countErased(
  tx: Tx,
  { tenant_id, id, claim_token }: ClaimedErasure,
  { counts, progress, leaseMs }: { counts: NumberCounts; progress: ErasureProgress | null; leaseMs: number },
): Promise<boolean> {
  const { rows } = await sql`
    update number_erasures
       set counts = (select coalesce(jsonb_object_agg(kind, total), '{}'::jsonb) from (
                       select kind, sum(value::bigint) as total
                         from (select * from jsonb_each_text(counts) union all
                               select * from jsonb_each_text(${JSON.stringify(counts)}::jsonb)) both_counts(kind, value)
                        group by kind) totals),
           progress = ${progress === null ? null : JSON.stringify(progress)}::jsonb,
           leased_until = now() + ${leaseMs} * interval '1 millisecond'
     where tenant_id = ${tenant_id} and id = ${id} and claim_token = ${claim_token} and completed_at is null
    returning id`.execute(tx)
  return rows.length > 0
}

/** The receipt stands, and the number is forgotten. Undefined when it is not held by this claim any more. */
export function completeErasure(
  tx: Tx,
  { tenant_id, id, claim_token }: ClaimedErasure,
  completedAt: Date,
): Promise<NumberErasureRow | undefined> {
  return tx
    .updateTable('number_erasures')
    .set({ completed_at: completedAt, phone_sealed: null, progress: null, claim_token: null, leased_until: null })
    .where('tenant_id', '=', tenant_id)
    .where('id', '=', id)
    .where('claim_token', '=', claim_token)
    .where('completed_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
}

/** Gives a claimed request back, to be gone on with by whoever looks next. */
export async function releaseErasure(db: Db, { tenant_id, id, claim_token }: ClaimedErasure): Promise<void> {
  await db
    .updateTable('number_erasures')
    .set({ claim_token: null, leased_until: null })
    .where('tenant_id', '=', tenant_id)
    .where('id', '=', id)
    .where('claim_token', '=', claim_token)
    .execute()
}

/** What is sealed in a request. */
export type SealedNumber = Pick<ClaimedErasure, 'tenant_id' | 'id' | 'phone_sealed'>

/** Of those that are not done. */
export async function listSealedNumbersAcrossTenants(db: Db): Promise<SealedNumber[]> {
  const rows = await db
    .selectFrom('number_erasures')
    .select(['tenant_id', 'id', 'phone_sealed'])
    .where('completed_at', 'is', null)
    .execute()
  return rows.flatMap(({ phone_sealed, ...row }) => (phone_sealed === null ? [] : [{ ...row, phone_sealed }]))
}

/** Changes nothing where it was completed meanwhile. */
export async function writeSealedNumber(db: Db, { tenant_id, id, phone_sealed }: SealedNumber): Promise<void> {
  await db
    .updateTable('number_erasures')
    .set({ phone_sealed })
    .where('tenant_id', '=', tenant_id)
    .where('id', '=', id)
    .where('completed_at', 'is', null)
    .execute()
}
