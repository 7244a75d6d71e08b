import type { Generated } from 'kysely'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { SessionId } from './call-values.ts'

/** Where a call lives. Whoever holds this row's lock is the only one who changes the call. */
export type DirectoryRow = {
  call_sid: string
  tenant_id: TenantId
  session_id: SessionId
  /** The node that has the call's stream; null before there is one. */
  owner: NodeId | null
  /** Grows when another stream takes the call over: what an earlier one still writes counts for nothing. */
  epoch: number
}

/** Who looks after calls that nobody reports on goes by these; see `open-call-store.ts`. */
type Watched = {
  /** When the call is to be asked for next; null once nothing more can come of it. */
  look_at: Generated<Date | null>
  /** How often in a row the carrier could not be asked. */
  look_tries: Generated<number>
  /** Until when the node that took the call from a dead one brings it back; null when nobody has to. */
  rescue_at: Generated<Date | null>
  /** Whether its carrier was told to ring the fallback number when its model was lost; null where that is not known. */
  is_at_fallback: Generated<boolean | null>
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    call_directory: DirectoryRow & Watched
  }
}

/** The epoch of a call whose stream nobody has taken over. */
export const FIRST_EPOCH = 1

/**
 * Enters a call; null when it is known already. Of several at once the others wait for the first. `look_at`: when it must have
 * begun; five minutes from now if not given.
 */
export async function enterCall(
  tx: Tx,
  tenantId: TenantId,
  call: { call_sid: string; session_id: SessionId; look_at?: Date },
): Promise<DirectoryRow | null> {
  const row = await tx
    .insertInto('call_directory')
    .values({ ...call, tenant_id: tenantId, owner: null, epoch: FIRST_EPOCH })
    .onConflict((conflict) => conflict.column('call_sid').doNothing())
    .returningAll()
    .executeTakeFirst()
  return row ?? null
}

/**
 * Makes this transaction the only one that changes the call until it ends; null when the tenant has no such call. To be asked
 * before anything is written. The tenant is held first, as `holdTenant` wants it: rows are locked in the order in which the
 * query names them.
 */
export async function lockCall(tx: Tx, tenantId: TenantId, callSid: string): Promise<DirectoryRow | null> {
  const row = await tx
    .selectFrom('tenants')
    .innerJoin('call_directory', 'call_directory.tenant_id', 'tenants.tenant_id')
    .selectAll('call_directory')
    .where('tenants.tenant_id', '=', tenantId)
    .where('call_sid', '=', callSid)
    .forKeyShare('tenants')
    .forNoKeyUpdate('call_directory')
    .executeTakeFirst()
  return row ?? null
}

/** Says which node has the call's stream, and of which epoch that is. To be called with `lockCall`. */
export async function setOwner(
  tx: Tx,
  tenantId: TenantId,
  callSid: string,
  holder: { owner: NodeId; epoch: number },
): Promise<void> {
  await tx
    .updateTable('call_directory')
    .set(holder)
    .where('tenant_id', '=', tenantId)
    .where('call_sid', '=', callSid)
    .execute()
}

/** The directory knows the call no longer. To be called with `lockCall`. */
export async function leaveCall(tx: Tx, tenantId: TenantId, callSid: string): Promise<void> {
  await tx.deleteFrom('call_directory').where('tenant_id', '=', tenantId).where('call_sid', '=', callSid).execute()
}

/** Nobody has the call from now on: it goes on without us. To be called with `lockCall`. */
export async function giveUpCall(tx: Tx, tenantId: TenantId, callSid: string): Promise<void> {
  await tx
    .updateTable('call_directory')
    .set((eb) => ({ owner: null, epoch: eb('epoch', '+', 1), rescue_at: null }))
    .where('tenant_id', '=', tenantId)
    .where('call_sid', '=', callSid)
    .execute()
}

/** Says whether the call goes on at the fallback number, whatever becomes of that number meanwhile. To be called with `lockCall`. */
export async function noteFallback(tx: Tx, tenantId: TenantId, callSid: string, isAtFallback: boolean): Promise<void> {
  await tx
    .updateTable('call_directory')
    .set({ is_at_fallback: isAtFallback })
    .where('tenant_id', '=', tenantId)
    .where('call_sid', '=', callSid)
    .execute()
}

/** Who has a call. */
export type HolderRow = Pick<DirectoryRow, 'owner' | 'epoch'>

/** Who has the tenant's call; null when it has no such call. */
export async function findHolder(db: Db, tenantId: TenantId, callSid: string): Promise<HolderRow | null> {
  const row = await db
    .selectFrom('call_directory')
    .select(['owner', 'epoch'])
    .where('tenant_id', '=', tenantId)
    .where('call_sid', '=', callSid)
    .executeTakeFirst()
  return row ?? null
}

/** Keeps tenants from being deleted until the transaction ends, in their order; see `holdTenant`. */
export async function holdTenantsAcrossTenants(tx: Tx, tenantIds: TenantId[]): Promise<void> {
  if (tenantIds.length === 0) return
  await tx
    .selectFrom('tenants')
    .select('tenant_id')
    .where('tenant_id', 'in', tenantIds)
    .orderBy('tenant_id')
    .forKeyShare()
    .execute()
}

/**
 * Who has calls, kept as it is until the transaction ends; an unknown call has nobody. In the order of the calls, so that two
 * who ask for the same ones never wait for each other.
 */
export async function keepHoldersAcrossTenants(tx: Tx, callSids: string[]): Promise<Map<string, HolderRow>> {
  const rows = await tx
    .selectFrom('call_directory')
    .select(['call_sid', 'owner', 'epoch'])
    .where('call_sid', 'in', callSids)
    .orderBy('call_sid')
    .forShare()
    .execute()
  return new Map(rows.map(({ call_sid, ...holder }) => [call_sid, holder]))
}
