import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import { lockOf, takeLock } from '../platform/db/advisory-locks.ts'
import type { Tx } from '../platform/db/schema.ts'
import { LONGEST_LIVE_MS } from './call-values.ts'

/** As long as one waits for a connection: who waits here has one. */
const WAIT_MS = 5_000

/** Written out, so that the index of the calls that are not over serves. */
export const isLive = sql<boolean>`status in ('queued', 'initiated', 'ringing', 'in-progress')`

/**
 * Makes this transaction the only one that begins calls for the tenant, in or out, until it ends. To be asked before anything is
 * counted: what is counted then holds every call that another one has written down. Two ids may share a lock.
 *
 * @throws AppError `unavailable` after five seconds of waiting, for this or for what the transaction locks later.
 */
export async function lockBeginnings(tx: Tx, tenantId: TenantId): Promise<void> {
  await sql`
    select set_config('lock_timeout', ${String(WAIT_MS)}, true),
           pg_advisory_xact_lock(${lockOf('beginningCalls', tenantId)})`.execute(tx)
}

/**
 * The tenant's calls, of any direction and on every node, that were logged after `since` and are not over. `exceptCallSid`: this
 * call is left out.
 */
export async function countLiveCalls(
  tx: Tx,
  tenantId: TenantId,
  { since, exceptCallSid = '' }: { since: Date; exceptCallSid?: string },
): Promise<number> {
  const { count } = await tx
    .selectFrom('call_logs')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('tenant_id', '=', tenantId)
    .where('created_at', '>', since)
    .where(isLive)
    .where('call_sid', 'is distinct from', exceptCallSid)
    .executeTakeFirstOrThrow()
  return count
}

/** Holds a number of the tenant until the transaction ends: of those that would call it at once, each sees what the one before has written down. */
export async function lockNumber(tx: Tx, tenantId: TenantId, number: string): Promise<void> {
  await takeLock(tx, 'calledNumber', `${tenantId} ${number}`)
}

type OtherCalls = { now: Date; exceptLogId: string | null }

/** Whether the tenant has a call now, in or out and on any node, with the number in a column. `exceptLogId`: this one is left out; null for none. */
export function isInCall(tenantId: TenantId, column: string, others: OtherCalls): RawBuilder<SqlBool> {
  return callWith(tenantId, sql.ref(column), others)
}

/** The same of a number. */
export async function hasCall(tx: Tx, tenantId: TenantId, number: string, others: OtherCalls): Promise<boolean> {
  const { rows } = await sql<{ is: boolean }>`select ${callWith(tenantId, sql.val(number), others)} as "is"`.execute(tx)
  return rows[0]?.is ?? false
}

/** Whether all calls that the tenant has with a number now are such of which it is not known whether their carrier has placed them. */
export async function isInDoubt(tx: Tx, tenantId: TenantId, number: string, now: Date): Promise<boolean> {
  const { rows } = await sql<{ is: boolean | null }>`
    select bool_and(live.call_sid is null and live.error_code = 'submission_unknown') as "is" from ${liveCalls(tenantId, now)}
       and ${number} in (live."from", live."to")`.execute(tx)
  return rows[0]?.is ?? false
}

function callWith(tenantId: TenantId, number: RawBuilder<unknown>, { now, exceptLogId }: OtherCalls) {
  return sql<SqlBool>`
    exists (select from ${liveCalls(tenantId, now)}
               and ${number} in (live."from", live."to") and live.id is distinct from ${exceptLogId}::uuid)`
}

/** The numbers with which the tenant has a call now, as `isInCall`: for whoever asks of many, each of which would go through all calls. */
export function numbersInCall(tenantId: TenantId, now: Date): RawBuilder<unknown> {
  return sql`select unnest(array[live."from", live."to"]) from ${liveCalls(tenantId, now)}`
}

function liveCalls(tenantId: TenantId, now: Date): RawBuilder<unknown> {
  return sql`call_logs live
             where live.tenant_id = ${tenantId} and live.created_at > ${new Date(now.getTime() - LONGEST_LIVE_MS)} and ${isLive}`
}
