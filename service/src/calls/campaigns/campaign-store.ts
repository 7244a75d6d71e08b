import { type SqlBool, sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import type { PageRequest } from '../../kernel/pages.ts'
import { newestFirst } from '../../platform/db/newest-first.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import type { MachineAction } from '../../voice/stream-begin.ts'

export type CampaignId = string & { readonly __brand: 'CampaignId' }

/** `paused_by_breaker`: too many of its calls failed for technical reasons, or none could be placed. */
export const CAMPAIGN_STATUSES = ['draft', 'running', 'paused', 'completed', 'cancelled', 'paused_by_breaker'] as const

export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number]

export const MACHINE_ACTIONS = ['hang_up', 'leave_message'] as const satisfies MachineAction[]

/** A list of people to be called one after the other. */
export type CampaignRow = {
  tenant_id: TenantId
  id: CampaignId
  name: string
  agent_key: string
  /** Null: where the tenant's calls come from. */
  from: string | null
  status: CampaignStatus
  /** Why it has this status, where nobody asked for it. */
  status_reason: string | null
  start_at: Date | null
  /** `HH:MM`, in the callee's time; both or none. The tenant's own hours count beside them. */
  hours_start: string | null
  hours_end: string | null
  calls_per_second: number
  max_concurrent: number
  max_attempts: number
  /** How long to wait after the first call in vain, the second, …; the last one stands for all later ones. */
  retry_minutes: number[]
  /** Null: what the agent does. */
  on_machine: MachineAction | null
  /** Before then no node dials for it. */
  next_dial_at: Date
  /** Calls that were settled before do not count against it. */
  judged_from: Date | null
  created_at: Date
  started_at: Date | null
  completed_at: Date | null
  updated_at: Date
}

declare module '../../platform/db/schema.ts' {
  interface Schema {
    campaigns: CampaignRow
  }
}

export async function insertCampaign(
  tx: Tx,
  tenantId: TenantId,
  campaign: Omit<CampaignRow, 'tenant_id'>,
): Promise<void> {
  await tx
    .insertInto('campaigns')
    .values({ ...campaign, tenant_id: tenantId, retry_minutes: sql<number[]>`${campaign.retry_minutes}::integer[]` })
    .execute()
}

export async function findCampaign(db: Db, tenantId: TenantId, id: CampaignId): Promise<CampaignRow | null> {
  const row = await db
    .selectFrom('campaigns')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row ?? null
}

/** The tenant's campaigns, newest first; one more than `limit`, to tell whether there are more. */
export function listCampaigns(
  db: Db,
  tenantId: TenantId,
  status: CampaignStatus | null,
  page: PageRequest,
): Promise<CampaignRow[]> {
  return db
    .selectFrom('campaigns')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .$if(status !== null, (query) => query.where('status', '=', status as CampaignStatus))
    .$call(newestFirst('campaigns', page))
    .execute()
}

/** Makes this transaction the only one that changes the campaign until it ends; null when there is none. */
export async function lockCampaign(tx: Tx, tenantId: TenantId, id: CampaignId): Promise<CampaignRow | null> {
  const row = await tx
    .selectFrom('campaigns')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return row ?? null
}

/** Takes a campaign for which a call may be placed now; null when none may, or another node is at it. */
export async function lockDueCampaign(
  tx: Tx,
  tenantId: TenantId,
  id: CampaignId,
  now: Date,
): Promise<CampaignRow | null> {
  const row = await tx
    .selectFrom('campaigns')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('status', '=', 'running')
    .where('next_dial_at', '<=', now)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  return row ?? null
}

type CampaignChange = Partial<
  Pick<
    CampaignRow,
    'status' | 'status_reason' | 'next_dial_at' | 'judged_from' | 'started_at' | 'completed_at' | 'updated_at'
  >
>

/** To be called with `lockCampaign`. */
export async function updateCampaign(
  tx: Tx,
  tenantId: TenantId,
  id: CampaignId,
  change: CampaignChange,
): Promise<CampaignRow> {
  return tx
    .updateTable('campaigns')
    .set(change)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/**
 * No call is placed for it before then. That is sooner than it was only where it waits as this row says: whoever has called
 * since, or has seen why to wait longer, is not overruled.
 */
export async function delayCampaign(
  db: Db,
  { tenant_id, id, next_dial_at }: Pick<CampaignRow, 'tenant_id' | 'id' | 'next_dial_at'>,
  until: Date,
): Promise<void> {
  await db
    .updateTable('campaigns')
    .set({ next_dial_at: until })
    .where('tenant_id', '=', tenant_id)
    .where('id', '=', id)
    .where((eb) => eb.or([eb('next_dial_at', '=', next_dial_at), eb('next_dial_at', '<', until)]))
    .execute()
}

/** A campaign that runs, and when the next call may be placed for it. */
export type RunningCampaign = Pick<CampaignRow, 'tenant_id' | 'id' | 'next_dial_at'>

/** Those that run, the longest due first. Over all tenants, but for those that are deleted: what is left of them is being removed. */
export function listRunningAcrossTenants(db: Db, limit: number): Promise<RunningCampaign[]> {
  return db
    .selectFrom('campaigns')
    .select(['tenant_id', 'id', 'next_dial_at'])
    .where('status', '=', 'running')
    .where(
      sql<SqlBool>`exists (select from tenants where tenants.tenant_id = campaigns.tenant_id and deleted_at is null)`,
    )
    .orderBy('next_dial_at')
    .limit(limit)
    .execute()
}
