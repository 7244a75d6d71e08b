import { type SqlBool, sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import type { Answered } from '../../records/answered-by.ts'
import { OVER_STATUSES } from '../../records/call-status.ts'
import type { CallStatus } from '../../records/call-values.ts'
import type { OneCall } from '../../records/ended-calls.ts'
import {
  ENDED_WITH_US,
  HAD_NO_AGENT,
  HAS_BROKEN_OFF,
  IS_SESSION_OVER,
  LOST_ITS_STREAM,
} from '../../records/session-outcome-store.ts'
import type { CampaignId } from './campaign-store.ts'
import type { ContactId } from './contact-store.ts'

/** A call of a campaign. */
type CampaignDialRow = {
  tenant_id: TenantId
  call_log_id: string
  campaign_id: CampaignId
  contact_id: ContactId
  /** On a machine. */
  leaves_message: boolean
  attempted_at: Date
  /** When what became of it was taken note of; null before. */
  settled_at: Date | null
  /** Whether it failed for a technical reason; null before it is settled. */
  is_fault: boolean | null
}

declare module '../../platform/db/schema.ts' {
  interface Schema {
    campaign_dials: CampaignDialRow
  }
}

export async function insertCampaignDial(
  tx: Tx,
  tenantId: TenantId,
  dial: Omit<CampaignDialRow, 'tenant_id' | 'settled_at' | 'is_fault'>,
): Promise<void> {
  await tx
    .insertInto('campaign_dials')
    .values({ ...dial, tenant_id: tenantId, settled_at: null, is_fault: null })
    .execute()
}

/** When the newest call of a campaign was begun; null when there is none. */
export async function lastCallAt(tx: Tx, tenantId: TenantId, campaignId: CampaignId): Promise<Date | null> {
  const row = await tx
    .selectFrom('call_logs')
    .select('created_at')
    .where('tenant_id', '=', tenantId)
    .where('campaign_id', '=', campaignId)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.created_at ?? null
}

/** A call of a campaign that is over, and how that ended. */
export type EndedCampaignDial = Pick<
  CampaignDialRow,
  'tenant_id' | 'call_log_id' | 'campaign_id' | 'contact_id' | 'leaves_message' | 'attempted_at'
> & {
  status: CallStatus
  error_code: string | null
  had_no_agent: boolean
  /** It ended for us, and not because it was done. */
  has_broken_off: boolean
  ended_with_us: boolean
} & Answered

/**
 * Calls, with their sessions, of which nobody has taken note that they are over, the oldest first, after one of them. Over all tenants; with
 * `of` that one call, if it is one.
 */
export function listEndedDialsAcrossTenants(
  db: Db,
  { limit, after, of = null }: { limit: number; after: EndedCampaignDial | null; of?: OneCall | null },
): Promise<EndedCampaignDial[]> {
  const behind = after
    ? sql<SqlBool>`(dial.attempted_at, dial.call_log_id) > (${after.attempted_at}, ${after.call_log_id}::uuid)`
    : sql<SqlBool>`true`
  const isMeant = of
    ? sql<SqlBool>`log.tenant_id = ${of.tenantId} and log.call_sid = ${of.callSid}`
    : sql<SqlBool>`true`
  return db
    .selectFrom('campaign_dials as dial')
    .innerJoin('call_logs as log', (join) =>
      join.onRef('log.tenant_id', '=', 'dial.tenant_id').onRef('log.id', '=', 'dial.call_log_id'),
    )
    .leftJoin('voice_sessions as session', (join) =>
      join.onRef('session.tenant_id', '=', 'log.tenant_id').onRef('session.id', '=', 'log.voice_session_id'),
    )
    .select(['dial.tenant_id', 'dial.call_log_id', 'dial.campaign_id', 'dial.contact_id', 'dial.leaves_message'])
    .select(['dial.attempted_at', 'log.status', 'log.answered_by', 'log.answered_by_source', 'log.error_code'])
    .select([HAD_NO_AGENT.as('had_no_agent'), ENDED_WITH_US.as('ended_with_us')])
    .select(sql<boolean>`coalesce(${HAS_BROKEN_OFF} or ${LOST_ITS_STREAM}, false)`.as('has_broken_off'))
    .where('dial.settled_at', 'is', null)
    .where('log.status', 'in', OVER_STATUSES)
    .where(IS_SESSION_OVER)
    .where(behind)
    .where(isMeant)
    .orderBy('dial.attempted_at')
    .orderBy('dial.call_log_id')
    .limit(limit)
    .execute()
}

/** Takes note that a call is over; false when somebody has done so already. Of several at once one does. */
export async function settleCampaignDial(
  tx: Tx,
  { tenant_id, call_log_id }: EndedCampaignDial,
  { now, isFault }: { now: Date; isFault: boolean },
): Promise<boolean> {
  const row = await tx
    .updateTable('campaign_dials')
    .set({ settled_at: now, is_fault: isFault })
    .where('tenant_id', '=', tenant_id)
    .where('call_log_id', '=', call_log_id)
    .where('settled_at', 'is', null)
    .returning('call_log_id')
    .executeTakeFirst()
  return row !== undefined
}

/** Takes back that a call is over. @returns its contact; null when nobody had taken note of that. */
export async function unsettleCampaignDial(tx: Tx, tenantId: TenantId, callLogId: string): Promise<ContactId | null> {
  const row = await tx
    .updateTable('campaign_dials')
    .set({ settled_at: null, is_fault: null })
    .where('tenant_id', '=', tenantId)
    .where('call_log_id', '=', callLogId)
    .where('settled_at', 'is not', null)
    .returning('contact_id')
    .executeTakeFirst()
  return row?.contact_id ?? null
}

/**
 * Of the last calls of a campaign, settled at `since` or later, how many there are, how many were faults, and the codes of those, the
 * commonest first.
 */
export async function lastFaults(
  tx: Tx,
  tenantId: TenantId,
  { campaignId, since, limit }: { campaignId: CampaignId; since: Date; limit: number },
): Promise<{ calls: number; faults: number; codes: string[] }> {
  const rows = await tx
    .selectFrom('campaign_dials as dial')
    .innerJoin('call_logs as log', (join) =>
      join.onRef('log.tenant_id', '=', 'dial.tenant_id').onRef('log.id', '=', 'dial.call_log_id'),
    )
    .select(['dial.is_fault', 'log.error_code'])
    .where('dial.tenant_id', '=', tenantId)
    .where('dial.campaign_id', '=', campaignId)
    .where('dial.settled_at', '>=', since)
    .orderBy('dial.settled_at', 'desc')
    .limit(limit)
    .execute()
  const faults = rows.filter(({ is_fault }) => is_fault === true)
  const times = new Map<string, number>()
  for (const { error_code: code } of faults) if (code) times.set(code, (times.get(code) ?? 0) + 1)
  const codes = [...times].sort(([, one], [, other]) => other - one).map(([code]) => code)
  return { calls: rows.length, faults: faults.length, codes }
}
