import { type Generated, sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { MachineAction } from '../voice/stream-begin.ts'

/**
 * dialing: the carrier is being asked. unknown: whether it took the call is being found out. accepted: it said so.
 * adopted: it was found out. failed: it did not take the call, or nothing was found of it.
 */
export type DialState = 'dialing' | 'unknown' | 'accepted' | 'adopted' | 'failed'

/** A call that was asked for, and what is known of its way to the carrier. What it is about stands in its log. */
export type DialRow = {
  /** Nobody can guess it: whoever names it to us was told it by us. */
  dial_ref: string
  tenant_id: TenantId
  call_log_id: string
  /** Null until the carrier has named the dial by it: that of a call that was only found stands in the log alone. */
  call_sid: string | null
  state: DialState
  /** Said in place of the agent's own. */
  greeting: string | null
  created_at: Date
  /** When the next node may look at what became of it. */
  due_at: Date
}

declare module '../platform/db/schema.ts' {
  interface Schema {
    /** `on_machine`: what is done on a machine in place of what the agent does; null for that. */
    dials: DialRow & { on_machine: Generated<MachineAction | null> }
  }
}

type NewDial = Omit<DialRow, 'tenant_id'> & { on_machine?: MachineAction | null }

export async function insertDial(tx: Tx, tenantId: TenantId, dial: NewDial): Promise<void> {
  await tx
    .insertInto('dials')
    .values({ ...dial, tenant_id: tenantId })
    .execute()
}

export async function findDial(db: Db, tenantId: TenantId, dialRef: string): Promise<DialRow | null> {
  const row = await db
    .selectFrom('dials')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('dial_ref', '=', dialRef)
    .executeTakeFirst()
  return row ?? null
}

/** The dial, null for an unknown one, and the one that is taken to have its call, if that is another one. */
export type LockedDials = { dial: DialRow | null; rival: DialRow | null }

/**
 * The dial, and the one that is taken to have this call, if that is another one. They are kept from changing until the
 * transaction ends: whoever has them alone decides what became of the calls. In the order of their references, so that two
 * who ask for the same ones never wait for each other.
 *
 * @returns null when the call went to a third dial while the others were waited for: ask again in another transaction.
 */
export async function lockDials(
  tx: Tx,
  tenantId: TenantId,
  dialRef: string,
  callSid: string | null,
): Promise<LockedDials | null> {
  const holderOf = () => (callSid === null ? null : findDialRefOf(tx, tenantId, callSid))
  const before = await holderOf()
  const locked = await tx
    .selectFrom('dials')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('dial_ref', 'in', [dialRef, ...(before === null ? [] : [before])])
    .orderBy('dial_ref')
    .forUpdate()
    .execute()
  const find = (ref: string | null) => locked.find(({ dial_ref }) => dial_ref === ref) ?? null
  const holder = await holderOf()
  if (holder !== null && !find(holder)) return null
  return { dial: find(dialRef), rival: holder === dialRef ? null : find(holder) }
}

async function findDialRefOf(tx: Tx, tenantId: TenantId, callSid: string): Promise<string | null> {
  const row = await tx
    .selectFrom('call_logs as log')
    .innerJoin('dials', (join) =>
      join.onRef('dials.tenant_id', '=', 'log.tenant_id').onRef('dials.call_log_id', '=', 'log.id'),
    )
    .select('dials.dial_ref')
    .where('log.tenant_id', '=', tenantId)
    .where('log.call_sid', '=', callSid)
    .executeTakeFirst()
  return row?.dial_ref ?? null
}

/** Between two numbers, in a span of time. */
export type DialsBetween = { from: string; to: string; since: Date; until: Date }

/** How many of the tenant's dials of that time may have a call at the carrier of which we do not know. */
export async function countDoubtedDials(
  db: Db,
  tenantId: TenantId,
  { from, to, since, until }: DialsBetween,
): Promise<number> {
  const { count } = await db
    .selectFrom('dials')
    .innerJoin('call_logs as log', (join) =>
      join.onRef('log.tenant_id', '=', 'dials.tenant_id').onRef('log.id', '=', 'dials.call_log_id'),
    )
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('log.tenant_id', '=', tenantId)
    .where('log.to', '=', to)
    .where('log.from', '=', from)
    .where('log.created_at', '>=', since)
    .where('log.created_at', '<=', until)
    .where('log.call_sid', 'is', null)
    // One that was given up may have been placed all the same.
    .where((eb) => eb.or([eb('dials.state', 'in', ['dialing', 'unknown']), eb('log.error_code', '=', 'not_confirmed')]))
    .executeTakeFirstOrThrow()
  return count
}

/**
 * Whether a call at the carrier is one that we know: any tenant's that is in the directory, or that the carrier has named a dial by, and any of this
 * tenant's. A session that was erased has left the directory, and its call was placed all the same.
 */
export async function isKnownCallAcrossTenants(db: Db, tenantId: TenantId, callSid: string): Promise<boolean> {
  const { rows } = await sql<{ is: boolean }>`
    select exists (select from call_directory where call_sid = ${callSid})
        or exists (select from dials where call_sid = ${callSid})
        or exists (select from call_logs where tenant_id = ${tenantId} and call_sid = ${callSid}) as "is"`.execute(db)
  return rows[0]?.is ?? false
}

/** Whose dial this is. A look-up over all tenants, for a carrier that names it. */
export async function findDiallerAcrossTenants(db: Db, dialRef: string): Promise<TenantId | null> {
  const row = await db.selectFrom('dials').select('tenant_id').where('dial_ref', '=', dialRef).executeTakeFirst()
  return row?.tenant_id ?? null
}

/** To be called with `lockDials`. */
export async function updateDial(
  tx: Tx,
  tenantId: TenantId,
  dialRef: string,
  change: { state: DialState; call_sid?: string },
): Promise<void> {
  await tx.updateTable('dials').set(change).where('tenant_id', '=', tenantId).where('dial_ref', '=', dialRef).execute()
}

/** What is done on a machine in this call in place of what its agent does; null for that. */
export async function findMachineAction(db: Db, tenantId: TenantId, callSid: string): Promise<MachineAction | null> {
  const row = await dialOf(db, tenantId, callSid).select('dials.on_machine').executeTakeFirst()
  return row?.on_machine ?? null
}

/** What the agent of this call says first in place of its own greeting; null for its own. */
export async function findGreeting(db: Db, tenantId: TenantId, callSid: string): Promise<string | null> {
  const row = await dialOf(db, tenantId, callSid).select('dials.greeting').executeTakeFirst()
  return row?.greeting ?? null
}

function dialOf(db: Db, tenantId: TenantId, callSid: string) {
  return db
    .selectFrom('call_logs as log')
    .innerJoin('dials', (join) =>
      join.onRef('dials.tenant_id', '=', 'log.tenant_id').onRef('dials.call_log_id', '=', 'log.id'),
    )
    .where('log.tenant_id', '=', tenantId)
    .where('log.call_sid', '=', callSid)
}

/** Those of these dials whose phones ring no more, by what any node has noted. Over all tenants. */
export async function listRungAcrossTenants(db: Db, dialRefs: string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('dials as dial')
    .innerJoin('call_logs as log', (join) =>
      join.onRef('log.tenant_id', '=', 'dial.tenant_id').onRef('log.id', '=', 'dial.call_log_id'),
    )
    .select('dial.dial_ref')
    .where('dial.dial_ref', 'in', dialRefs)
    .where('log.status', 'not in', ['queued', 'initiated', 'ringing'])
    .execute()
  return rows.map(({ dial_ref }) => dial_ref)
}

/**
 * Takes dials of which it is not known what became of them and which are due, the longest due first; no other node takes
 * them before `dueAgainAt`, but when they are `giveUpAfterMs` old, if that is sooner. Over all tenants.
 */
export function claimDialsAcrossTenants(
  db: Db,
  { now, dueAgainAt, giveUpAfterMs, limit }: { now: Date; dueAgainAt: Date; giveUpAfterMs: number; limit: number },
): Promise<DialRow[]> {
  const givenUpAt = sql<Date>`created_at + ${giveUpAfterMs} * interval '1 millisecond'`
  return db
    .updateTable('dials')
    .set({
      due_at: sql<Date>`
        case when ${givenUpAt} > ${now}::timestamptz then least(${givenUpAt}, ${dueAgainAt}) else ${dueAgainAt} end`,
    })
    .where('dial_ref', 'in', (eb) =>
      eb
        .selectFrom('dials')
        .select('dial_ref')
        .where('state', 'in', ['dialing', 'unknown'])
        .where('due_at', '<=', now)
        .orderBy('due_at')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returningAll()
    .execute()
}
