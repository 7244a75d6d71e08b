import { sql } from 'kysely'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import { isHeardFrom } from '../platform/nodes/heartbeat-store.ts'
import { OVER_STATUSES } from '../records/call-status.ts'
import { STREAM_LOST } from '../records/call-values.ts'

/** A call that was taken from its node; `epoch` is the new one, by which that node cannot write about it any more. */
export type OrphanedCall = { tenantId: TenantId; callSid: string; epoch: number }

type Claim = {
  /** Their calls are taken. */
  owners: NodeId[]
  /** How long the calls are this node's to bring back. */
  leaseMs: number
  /** When to look after a call that did not come back. */
  lookAt: Date
  /** Whose carriers were promised a stream since then, come back by themselves. */
  promisedSince: Date
  limitRows: number
}

/** More nodes than an installation has. */
const MAX_OWNERS = 1_000

/**
 * The nodes other than `self` that have open calls and were not heard from for `silenceMs`, or are not known any more. One step
 * of an index for each owner, however many calls there are.
 */
export async function silentOwners(db: Db, self: NodeId, silenceMs: number): Promise<NodeId[]> {
  const { rows } = await sql<{ owner: NodeId }>`
    with recursive owners (owner) as (
      (select owner from call_directory
        where look_at is not null and owner is not null order by owner limit 1)
      union all
      select (select entry.owner from call_directory entry
               where entry.look_at is not null and entry.owner > owners.owner order by entry.owner limit 1)
        from owners where owners.owner is not null)
    select owner from owners
     where owner is not null and owner <> ${self}
       and not exists (select from nodes where node_id = owner and ${isHeardFrom(silenceMs)})
     limit ${MAX_OWNERS}`.execute(db)
  return rows.map(({ owner }) => owner)
}

/**
 * Takes open calls from nodes that are gone, and from nodes that took them and did not bring them back in time. Of several that
 * ask at once each gets other calls.
 */
export async function claimOrphansAcrossTenants(
  db: Db,
  { owners, leaseMs, lookAt, promisedSince, limitRows }: Claim,
): Promise<OrphanedCall[]> {
  const { rows } = await sql<OrphanedCall>`
    with orphans as materialized (
      select call_sid from call_directory
       where look_at is not null
         and (owner = any (${owners}::uuid[]) or (owner is null and rescue_at <= now()))
         and not exists (select from call_resumes promise
                          where promise.call_sid = call_directory.call_sid and promise.promised_at > ${promisedSince})
       limit ${limitRows} for update skip locked)
    update call_directory
       set owner = null, epoch = epoch + 1, look_at = ${lookAt}, rescue_at = ${inMs(leaseMs)}
      from orphans where call_directory.call_sid = orphans.call_sid
    returning call_directory.tenant_id as "tenantId", call_directory.call_sid as "callSid", epoch`.execute(db)
  return rows
}

/** Whether the call is still nobody's: no stream of a later epoch has it, and it is not over. */
export async function isStillOrphaned(db: Db, { tenantId, callSid, epoch }: OrphanedCall): Promise<boolean> {
  const row = await db
    .selectFrom('call_directory')
    .select('epoch')
    .where('tenant_id', '=', tenantId)
    .where('call_sid', '=', callSid)
    .where('epoch', '=', epoch)
    .where('owner', 'is', null)
    .where('rescue_at', 'is not', null)
    .executeTakeFirst()
  return row !== undefined
}

/** Nobody has to bring the call back any more: it was sent on its way, or cannot be. */
export async function rescueOver(db: Db, { tenantId, callSid, epoch }: OrphanedCall): Promise<void> {
  await db
    .updateTable('call_directory')
    .set({ rescue_at: null })
    .where('tenant_id', '=', tenantId)
    .where('call_sid', '=', callSid)
    .where('epoch', '=', epoch)
    .execute()
}

/** The call could not be brought back now: it is to be tried again. */
export async function rescueLater(db: Db, { tenantId, callSid, epoch }: OrphanedCall, delayMs: number): Promise<void> {
  await db
    .updateTable('call_directory')
    .set({ rescue_at: inMs(delayMs) })
    .where('tenant_id', '=', tenantId)
    .where('call_sid', '=', callSid)
    .where('epoch', '=', epoch)
    .where('owner', 'is', null)
    .execute()
}

/**
 * Lets go of a call that this node has, as if it had died: it must be brought elsewhere. Null when the node does not have it.
 */
export async function releaseCall(
  db: Db,
  owner: NodeId,
  call: Omit<OrphanedCall, 'epoch'>,
  { leaseMs, lookAt }: Pick<Claim, 'leaseMs' | 'lookAt'>,
): Promise<OrphanedCall | null> {
  const row = await db
    .updateTable('call_directory')
    .set((eb) => ({ owner: null, epoch: eb('epoch', '+', 1), look_at: lookAt, rescue_at: inMs(leaseMs) }))
    .where('tenant_id', '=', call.tenantId)
    .where('call_sid', '=', call.callSid)
    .where('owner', '=', owner)
    .where('look_at', 'is not', null)
    .returning('epoch')
    .executeTakeFirst()
  return row ? { ...call, epoch: row.epoch } : null
}

/** Takes back what `releaseCall` let go, with its epoch. False when another node has it meanwhile. */
export async function takeBack(db: Db, owner: NodeId, { tenantId, callSid, epoch }: OrphanedCall): Promise<boolean> {
  const row = await db
    .updateTable('call_directory')
    .set({ owner, epoch: epoch - 1, rescue_at: null })
    .where('tenant_id', '=', tenantId)
    .where('call_sid', '=', callSid)
    .where('epoch', '=', epoch)
    .where('owner', 'is', null)
    .returning('epoch')
    .executeTakeFirst()
  return row !== undefined
}

/** Which of these calls, whose streams are on the node `self`, were taken from it, and of which epoch they are now. */
export async function takenCallsAcrossTenants(
  db: Db,
  self: NodeId,
  callSids: string[],
): Promise<{ callSid: string; epoch: number }[]> {
  if (callSids.length === 0) return []
  const rows = await db
    .selectFrom('call_directory')
    .select(['call_sid', 'epoch'])
    .where('call_sid', 'in', callSids)
    .where((eb) => eb.or([eb('owner', '<>', self), eb('owner', 'is', null).and('rescue_at', 'is not', null)]))
    .execute()
  return rows.map(({ call_sid, epoch }) => ({ callSid: call_sid, epoch }))
}

/** Those of these calls that are written down as over: by the word of their carrier, or, `isLost`, because no stream of them could be had. */
export async function overCallsAcrossTenants(
  db: Db,
  callSids: string[],
): Promise<{ tenantId: TenantId; callSid: string; isLost: boolean }[]> {
  if (callSids.length === 0) return []
  const rows = await db
    .selectFrom('call_directory as entry')
    .innerJoin('call_logs as log', (join) =>
      join.onRef('log.tenant_id', '=', 'entry.tenant_id').onRef('log.call_sid', '=', 'entry.call_sid'),
    )
    .select(['entry.tenant_id as tenantId', 'entry.call_sid as callSid', 'log.error_code as errorCode'])
    .where('entry.call_sid', 'in', callSids)
    .where('log.status', 'in', OVER_STATUSES)
    .execute()
  return rows.map(({ errorCode, ...call }) => ({ ...call, isLost: errorCode === STREAM_LOST }))
}

function inMs(ms: number) {
  return sql<Date>`now() + ${ms} * interval '1 millisecond'`
}
