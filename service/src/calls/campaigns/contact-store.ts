import { type RawBuilder, sql } from 'kysely'
import type { TenantId } from '../../kernel/ids.ts'
import type { PageRequest } from '../../kernel/pages.ts'
import type { PhoneNumber } from '../../kernel/phone.ts'
import { type FittingRows, fittingRows } from '../../platform/db/fitting-rows.ts'
import { newestFirst } from '../../platform/db/newest-first.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import type { CallStatus } from '../../records/call-values.ts'
import type { CampaignId } from './campaign-store.ts'

export type ContactId = string & { readonly __brand: 'ContactId' }

/** `refused`: the dial gate will never let it through. `failed`: called in vain as often as it may be. */
export const CONTACT_STATUSES = ['pending', 'dialing', 'completed', 'failed', 'refused', 'cancelled'] as const

export type ContactStatus = (typeof CONTACT_STATUSES)[number]

/** Somebody whom a campaign calls. */
export type ContactRow = {
  tenant_id: TenantId
  id: ContactId
  campaign_id: CampaignId
  /** In the list, from 1. */
  position: number
  phone: PhoneNumber
  metadata: Record<string, unknown>
  status: ContactStatus
  /** Of its last call, or the code of what spoke against one. */
  outcome: string | null
  attempts: number
  due_at: Date
  /** Whoever is about to call; a new one with each claim. */
  claim_token: string | null
  claimed_until: Date | null
  last_call_log_id: string | null
  created_at: Date
  updated_at: Date
}

declare module '../../platform/db/schema.ts' {
  interface Schema {
    campaign_contacts: ContactRow
  }
}

export type NewContact = Pick<ContactRow, 'id' | 'position' | 'phone' | 'metadata'>

/** Adds the contacts of a new campaign, due at once. */
export async function insertContacts(
  tx: Tx,
  tenantId: TenantId,
  { campaignId, contacts, now }: { campaignId: CampaignId; contacts: NewContact[]; now: Date },
): Promise<void> {
  await sql`
    insert into campaign_contacts (tenant_id, campaign_id, id, position, phone, metadata, status, attempts, due_at,
                                   created_at, updated_at)
    select ${tenantId}, ${campaignId}::uuid, contact.id, contact.position, contact.phone, contact.metadata, 'pending', 0,
           ${now}::timestamptz, ${now}::timestamptz, ${now}::timestamptz
      from jsonb_to_recordset(${JSON.stringify(contacts)}::jsonb)
           as contact (id uuid, position integer, phone text, metadata jsonb)`.execute(tx)
}

export type ContactCounts = Record<ContactStatus, number>

/** How many contacts of each campaign have each status. */
export async function countContacts(
  db: Db,
  tenantId: TenantId,
  campaignIds: CampaignId[],
): Promise<Map<CampaignId, ContactCounts>> {
  const none = Object.fromEntries(CONTACT_STATUSES.map((status) => [status, 0])) as ContactCounts
  const counts = new Map(campaignIds.map((id) => [id, { ...none }]))
  if (campaignIds.length === 0) return counts
  const rows = await db
    .selectFrom('campaign_contacts')
    .select(({ fn }) => ['campaign_id', 'status', fn.countAll<number>().as('count')])
    .where('tenant_id', '=', tenantId)
    .where('campaign_id', 'in', campaignIds)
    .groupBy(['campaign_id', 'status'])
    .execute()
  for (const { campaign_id, status, count } of rows) {
    const of = counts.get(campaign_id)
    if (of) of[status] = count
  }
  return counts
}

/** A contact and its last call. */
export type ListedContact = Omit<ContactRow, 'claim_token' | 'claimed_until'> & {
  call_sid: string | null
  call_status: CallStatus | null
}

/** A page of the contacts of a campaign, the last of its list first. */
export function listContacts(
  db: Db,
  tenantId: TenantId,
  { campaignId, status }: { campaignId: CampaignId; status: ContactStatus | null },
  page: PageRequest,
): Promise<FittingRows<ListedContact>> {
  const query = db
    .selectFrom('campaign_contacts')
    .leftJoin('call_logs as log', (join) =>
      join
        .onRef('log.tenant_id', '=', 'campaign_contacts.tenant_id')
        .onRef('log.id', '=', 'campaign_contacts.last_call_log_id'),
    )
    .selectAll('campaign_contacts')
    .select(['log.call_sid', 'log.status as call_status'])
    .where('campaign_contacts.tenant_id', '=', tenantId)
    .where('campaign_contacts.campaign_id', '=', campaignId)
    .$if(status !== null, (query) => query.where('campaign_contacts.status', '=', status as ContactStatus))
    .$call(newestFirst('campaign_contacts', page))
  return fittingRows(db, query, ['metadata'], page.limit)
}

/**
 * How many are being called now, or are about to be. To be asked with the campaign locked. By an index for each, as it is asked before
 * every call: nobody else is gone through.
 */
export async function countBusy(tx: Tx, tenantId: TenantId, campaignId: CampaignId, now: Date): Promise<number> {
  const countOf = (isMeant: RawBuilder<unknown>) => sql`
    (select count(*) from campaign_contacts
      where tenant_id = ${tenantId} and campaign_id = ${campaignId} and ${isMeant})`
  const claimed = sql`claim_token is not null and status = 'pending' and claimed_until > ${now}`
  const { rows } = await sql<{ count: number }>`
    select ${countOf(sql`status = 'dialing'`)} + ${countOf(claimed)} as count`.execute(tx)
  return rows[0]?.count ?? 0
}

/** The right to call somebody: only who has it may, until it is over. */
export type Claim = { token: string; until: Date }

/** Takes the next contact that is due, in the order of the list; null when none is. To be called with the campaign locked. */
export async function claimContact(
  tx: Tx,
  tenantId: TenantId,
  campaignId: CampaignId,
  { claim, now }: { claim: Claim; now: Date },
): Promise<ContactRow | null> {
  const row = await tx
    .updateTable('campaign_contacts')
    .set({ claim_token: claim.token, claimed_until: claim.until })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', (eb) =>
      eb
        .selectFrom('campaign_contacts')
        .select('id')
        .where('tenant_id', '=', tenantId)
        .where('campaign_id', '=', campaignId)
        .where('status', '=', 'pending')
        .where('due_at', '<=', now)
        .where((or) => or.or([or('claimed_until', 'is', null), or('claimed_until', '<=', now)]))
        .orderBy('due_at')
        .orderBy('position')
        .limit(1),
    )
    .returningAll()
    .executeTakeFirst()
  return row ?? null
}

/** When the next one that waits is due; null when none waits. */
export async function nextDue(tx: Tx, tenantId: TenantId, campaignId: CampaignId): Promise<Date | null> {
  const row = await tx
    .selectFrom('campaign_contacts')
    .select(sql<Date>`greatest(due_at, claimed_until)`.as('at'))
    .where('tenant_id', '=', tenantId)
    .where('campaign_id', '=', campaignId)
    .where('status', '=', 'pending')
    .orderBy(sql`greatest(due_at, claimed_until)`)
    .limit(1)
    .executeTakeFirst()
  return row?.at ?? null
}

/** Says that the contact is being called, by the call of this log; false when the claim is not, or no longer, good. */
export async function beginContactCall(
  tx: Tx,
  contact: ContactRow,
  { token, callLogId, now }: { token: string; callLogId: string; now: Date },
): Promise<boolean> {
  const row = await tx
    .updateTable('campaign_contacts')
    .set((eb) => ({
      ...{ status: 'dialing' as const, outcome: null, last_call_log_id: callLogId, updated_at: now },
      ...{ attempts: eb('attempts', '+', 1), claim_token: null, claimed_until: null },
    }))
    .where('tenant_id', '=', contact.tenant_id)
    .where('id', '=', contact.id)
    .where('status', '=', 'pending')
    .where('claim_token', '=', token)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** Gives a claim back, with what has come of it; one that is not good any more changes nothing. */
export async function releaseContact(
  db: Db,
  contact: ContactRow,
  {
    token,
    change,
  }: { token: string; change: Partial<Pick<ContactRow, 'status' | 'outcome' | 'due_at' | 'updated_at'>> },
): Promise<void> {
  await db
    .updateTable('campaign_contacts')
    .set({ ...change, claim_token: null, claimed_until: null })
    .where('tenant_id', '=', contact.tenant_id)
    .where('id', '=', contact.id)
    .where('status', '=', 'pending')
    .where('claim_token', '=', token)
    .execute()
}

/** What a call has made of a contact; one that is not being called stays as it is. */
export async function settleContact(
  tx: Tx,
  tenantId: TenantId,
  id: ContactId,
  change: Pick<ContactRow, 'status' | 'outcome' | 'attempts' | 'updated_at'> & { due_at?: Date },
): Promise<void> {
  await tx
    .updateTable('campaign_contacts')
    .set(change)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('status', '=', 'dialing')
    .execute()
}

/** The contact's last call goes on after all: whoever was about to call it again does not. `wasCounted`: as an attempt, before. */
export async function resumeContact(
  tx: Tx,
  tenantId: TenantId,
  id: ContactId,
  { callLogId, wasCounted, now }: { callLogId: string; wasCounted: boolean; now: Date },
): Promise<void> {
  await tx
    .updateTable('campaign_contacts')
    .set((eb) => ({
      ...{ status: 'dialing' as const, outcome: null, claim_token: null, claimed_until: null, updated_at: now },
      attempts: eb('attempts', '+', wasCounted ? 0 : 1),
    }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('last_call_log_id', '=', callLogId)
    .where('status', 'in', ['pending', 'failed', 'cancelled'])
    .execute()
}

/** A call before the contact's last one has reached somebody after all: it is called no more, nor taken for called in vain. */
export async function completeContact(
  tx: Tx,
  tenantId: TenantId,
  id: ContactId,
  change: Pick<ContactRow, 'outcome' | 'updated_at'>,
): Promise<void> {
  await tx
    .updateTable('campaign_contacts')
    .set({ ...change, status: 'completed', claim_token: null, claimed_until: null })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('status', 'in', ['pending', 'failed', 'cancelled'])
    .execute()
}

export async function findContact(tx: Tx, tenantId: TenantId, id: ContactId): Promise<ContactRow | null> {
  const row = await tx
    .selectFrom('campaign_contacts')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row ?? null
}

/** Those that are not being called are not called any more. */
export async function cancelContacts(tx: Tx, tenantId: TenantId, campaignId: CampaignId, now: Date): Promise<void> {
  await tx
    .updateTable('campaign_contacts')
    .set({ status: 'cancelled', claim_token: null, claimed_until: null, updated_at: now })
    .where('tenant_id', '=', tenantId)
    .where('campaign_id', '=', campaignId)
    .where('status', '=', 'pending')
    .execute()
}

/** Whoever was about to be called when the campaign was paused is to be taken anew: whoever has a claim does not call any more. */
export async function freeContacts(tx: Tx, tenantId: TenantId, campaignId: CampaignId): Promise<void> {
  await tx
    .updateTable('campaign_contacts')
    .set({ claim_token: null, claimed_until: null })
    .where('tenant_id', '=', tenantId)
    .where('campaign_id', '=', campaignId)
    .where('status', '=', 'pending')
    .where('claim_token', 'is not', null)
    .execute()
}

/** Those that wait for hours, or for the end of a day's attempts, are looked at now: both may be others by now. */
export async function hurryContacts(tx: Tx, tenantId: TenantId, campaignId: CampaignId, now: Date): Promise<void> {
  await tx
    .updateTable('campaign_contacts')
    .set({ due_at: now, updated_at: now })
    .where('tenant_id', '=', tenantId)
    .where('campaign_id', '=', campaignId)
    .where('status', '=', 'pending')
    .where('outcome', 'in', ['outside_calling_hours', 'attempt_cap'])
    .where('due_at', '>', now)
    .execute()
}

/** Whether anybody is still to be called, or being called. By an index for each, so that nobody else is gone through. */
export async function hasOpenContacts(tx: Tx, tenantId: TenantId, campaignId: CampaignId): Promise<boolean> {
  const isThere = (status: ContactStatus) => sql`
    exists (select from campaign_contacts
             where tenant_id = ${tenantId} and campaign_id = ${campaignId} and status = ${sql.lit(status)})`
  const { rows } = await sql<{ is: boolean }>`select ${isThere('dialing')} or ${isThere('pending')} as "is"`.execute(tx)
  return rows[0]?.is ?? false
}
