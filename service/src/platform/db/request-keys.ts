import { sql } from 'kysely'
import { AppError } from '../../kernel/errors.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { expectSameBody, KEY_MS, type RequestKey } from '../../kernel/request-key.ts'
import type { Db, Tx } from './schema.ts'

/** A table of keys by which requests may be repeated, and its column of what a key was taken for. */
export type KeyTable = { table: string; made: string }

/**
 * Takes a key for what this transaction is about to make; false when it was taken after `freeBefore`. Of several at once one is told
 * true, and the others wait for what becomes of it.
 */
export async function takeKey(
  tx: Tx,
  { table, made }: KeyTable,
  tenantId: TenantId,
  { key, bodyHash, madeId, now, freeBefore }: RequestKey & { madeId: string; now: Date; freeBefore: Date },
): Promise<boolean> {
  const column = sql.ref(made)
  const { rows } = await sql<{ key: string }>`
    insert into ${sql.table(table)} as known (tenant_id, key, body_hash, ${column}, created_at)
    values (${tenantId}, ${key}, ${bodyHash}, ${madeId}, ${now})
        on conflict (tenant_id, key) do update
       set body_hash = excluded.body_hash, ${column} = excluded.${column}, created_at = excluded.created_at
     where known.created_at <= ${freeBefore}
    returning key`.execute(tx)
  return rows.length > 0
}

/** What a key was taken for, as it is now, and for which body. */
export type MadeByKey<T> = { made: T; bodyHash: Buffer }

/**
 * Takes the key of a request for what this transaction is about to make: null. Of one that was taken in the last 24 h, what was made
 * with it, as it is now.
 *
 * @param find looks for that.
 * @throws AppError `idempotency_mismatch` for another body; `conflict` when what was made is being erased.
 */
export async function takeKeyOrFind<T>(
  tx: Tx,
  table: KeyTable,
  asked: RequestKey & { tenantId: TenantId; madeId: string; now: Date },
  find: () => Promise<MadeByKey<T> | null>,
): Promise<T | null> {
  const { tenantId, ...request } = asked
  if (await takeKey(tx, table, tenantId, { ...request, freeBefore: keysFreeBefore(asked.now) })) return null
  const known = await find()
  if (!known) throw new AppError('conflict', 'What this Idempotency-Key has made was being erased: send it again.')
  expectSameBody(asked, known.bodyHash)
  return known.made
}

/** Keys that were taken by then may be taken anew. */
export function keysFreeBefore(now: Date): Date {
  return new Date(now.getTime() - KEY_MS)
}

const FORGET_ROWS = 10_000

/** Forgets keys that are free again, 10,000 at most. Over all tenants. */
export async function forgetKeysAcrossTenants(db: Db, { table }: KeyTable, freeBefore: Date): Promise<void> {
  const name = sql.table(table)
  await sql`
    delete from ${name}
     where created_at <= ${freeBefore}
       and (tenant_id, key) in (select tenant_id, key from ${name} where created_at <= ${freeBefore} limit ${FORGET_ROWS})`.execute(
    db,
  )
}
