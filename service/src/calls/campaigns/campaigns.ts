import type { ResolveAgent } from '../../agents/resolve.ts'
import { enqueue } from '../../delivery/enqueue.ts'
import type { Clock } from '../../kernel/clock.ts'
import { AppError, invalidRequest } from '../../kernel/errors.ts'
import { newId, type TenantId } from '../../kernel/ids.ts'
import { type Page, type PageRequest, toPage } from '../../kernel/pages.ts'
import type { PhoneNumber } from '../../kernel/phone.ts'
import { expectSameBody, type RequestKey } from '../../kernel/request-key.ts'
import { againWhenRefused } from '../../platform/db/again.ts'
import { isUuid } from '../../platform/db/newest-first.ts'
import { keysFreeBefore, takeKeyOrFind } from '../../platform/db/request-keys.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import { holdKnownTenant, knownTenant } from '../../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import type { MachineAction } from '../../voice/stream-begin.ts'
import type { CallingHours } from '../calling-hours.ts'
import { namedAgent } from '../named-agent.ts'
import { expectOwnNumber } from '../own-number.ts'
import { type ContactError, readContacts, type SentContact } from './campaign-contacts.ts'
import { lastCallAt } from './campaign-dial-store.ts'
import { CAMPAIGN_KEYS, findCampaignOfKey } from './campaign-key-store.ts'
import { showCampaign } from './campaign-shape.ts'
import {
  type CampaignId,
  type CampaignRow,
  type CampaignStatus,
  findCampaign,
  insertCampaign,
  listCampaigns,
  lockCampaign,
  updateCampaign,
} from './campaign-store.ts'
import {
  type ContactCounts,
  type ContactStatus,
  cancelContacts,
  countContacts,
  freeContacts,
  hurryContacts,
  insertContacts,
  type ListedContact,
  listContacts,
} from './contact-store.ts'

/** A campaign to be made. Null is what was not given. */
export type NewCampaign = {
  name: string
  agentKey: string
  from: PhoneNumber | null
  contacts: SentContact[]
  startAt: Date | null
  hours: CallingHours | null
  callsPerSecond: number
  maxConcurrent: number
  maxAttempts: number
  retryMinutes: number[]
  onMachine: MachineAction | null
}

/** A campaign, and what its contacts have come to. */
export type CountedCampaign = { campaign: CampaignRow; counts: ContactCounts }

/** A campaign, what of its list was left out, and whether an earlier request with the same key has made it. */
export type MadeCampaign = CountedCampaign & { errors: ContactError[]; isReplay: boolean }

/** What can be done to a campaign as a whole. */
export type CampaignMove = 'start' | 'pause' | 'cancel'

/** The campaigns of tenants: lists of people whom an agent calls one after the other. */
export type Campaigns = {
  /**
   * Makes a draft. Contacts that cannot be called are told, and left out. For 24 h a request with the key of an earlier one is
   * answered with the campaign that that one has made, as it is now.
   *
   * @throws AppError `idempotency_mismatch` for another body with the same key.
   * @throws AppError `invalid_request` when none is left, for a number or an agent that the tenant does not have, and for a
   * message that the agent does not have.
   */
  create(tenantId: TenantId, campaign: NewCampaign, key: RequestKey | null): Promise<MadeCampaign>
  /** Newest first. */
  list(tenantId: TenantId, status: CampaignStatus | null, page: PageRequest): Promise<Page<CountedCampaign>>
  /** @throws AppError `not_found`. */
  get(tenantId: TenantId, id: string): Promise<CountedCampaign>
  /**
   * `start` goes on with one that was paused, too; `pause` lets calls that are on their way go on; `cancel` as well, and nobody
   * else is called ever.
   *
   * @throws AppError `not_found`; `conflict` when its status does not allow it.
   */
  move(tenantId: TenantId, id: string, move: CampaignMove): Promise<CountedCampaign>
  /** Its contacts with their last calls, the last of the list first. @throws AppError `not_found`. */
  calls(tenantId: TenantId, id: string, status: ContactStatus | null, page: PageRequest): Promise<Page<ListedContact>>
}

type Deps = {
  db: Db
  clock: Clock
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  resolveAgent: ResolveAgent
}

const MOVES: Record<CampaignMove, { from: readonly CampaignStatus[]; to: CampaignStatus }> = {
  start: { from: ['draft', 'paused', 'paused_by_breaker'], to: 'running' },
  pause: { from: ['running'], to: 'paused' },
  cancel: { from: ['draft', 'running', 'paused', 'paused_by_breaker'], to: 'cancelled' },
}

export function makeCampaigns({ db, clock, tenants, resolveAgent }: Deps): Campaigns {
  async function expectSpeaker(tenant: TenantRuntime, { agentKey, from, onMachine }: NewCampaign): Promise<void> {
    const { config } = await namedAgent(resolveAgent, tenant, { agentKey, versionId: null })
    if (from !== null) await expectOwnNumber(db, tenant, from)
    if (onMachine !== 'leave_message' || config.voicemail.action === 'leave_message') return
    const message = 'needs an agent whose voicemail.action is leave_message'
    throw invalidRequest([{ path: '/body/on_machine', message }])
  }

  return {
    async create(tenantId, wanted, key) {
      const tenant = await knownTenant(tenants, tenantId)
      const now = new Date(clock.now())
      // Before anything is refused that was not when it was made.
      const earlier = key && (await earlierCampaign(db, tenantId, key, now))
      if (!earlier) await expectSpeaker(tenant, wanted)
      const { contacts, errors } = await readContacts(wanted.contacts, now.getTime())
      if (earlier) return { ...(await counted(db, earlier)), errors, isReplay: true }
      if (contacts.length === 0) {
        const [first, ...others] = errors.map(({ at, error }) => `has nobody who can be called: ${at}: ${error}`)
        const fault = (message: string) => ({ path: '/body/contacts', message })
        throw invalidRequest([fault(first ?? 'has nobody who can be called'), ...others.map(fault)])
      }
      const campaign = draftOf(tenantId, wanted, now)
      return db.transaction().execute(async (tx) => {
        await holdKnownTenant(tx, tenantId)
        const faster = key && (await takeKeyFor(tx, campaign, key, now))
        if (faster) return { ...(await counted(tx, faster)), errors, isReplay: true }
        await insertCampaign(tx, tenantId, campaign)
        await insertContacts(tx, tenantId, { campaignId: campaign.id, contacts, now })
        return { ...(await counted(tx, campaign)), errors, isReplay: false }
      })
    },
    async list(tenantId, status, page) {
      const rows = await listCampaigns(db, tenantId, status, page)
      const counts = await countContacts(
        db,
        tenantId,
        rows.map(({ id }) => id),
      )
      const campaigns = rows.map((campaign) => ({ campaign, counts: counts.get(campaign.id) ?? noneOf(campaign) }))
      return toPage(campaigns, page.limit, ({ campaign }) => ({ createdAt: campaign.created_at, id: campaign.id }))
    },
    get: async (tenantId, id) => counted(db, await expectCampaign(db, tenantId, id)),
    async move(tenantId, id, move) {
      const tenant = await knownTenant(tenants, tenantId)
      const { id: campaignId } = await expectCampaign(db, tenantId, id)
      const lockedIn = async (tx: Tx) => {
        await holdKnownTenant(tx, tenantId)
        const before = await lockCampaign(tx, tenantId, campaignId)
        if (!before) throw unknownCampaign()
        return moveIn(tx, tenant, { before, move, now: new Date(clock.now()) })
      }
      // Whoever erases a number takes what mentions it out of contacts of all campaigns, in another order.
      return againWhenRefused(() => db.transaction().execute(lockedIn))
    },
    async calls(tenantId, id, status, page) {
      const { id: campaignId } = await expectCampaign(db, tenantId, id)
      const { rows, limit } = await listContacts(db, tenantId, { campaignId, status }, page)
      return toPage(rows, limit, (row) => ({ createdAt: row.created_at, id: row.id }))
    },
  }
}

/** @throws AppError `conflict` when its status does not allow it. */
async function moveIn(
  tx: Tx,
  tenant: TenantRuntime,
  { before, move, now }: { before: CampaignRow; move: CampaignMove; now: Date },
): Promise<CountedCampaign> {
  const { from, to } = MOVES[move]
  if (!from.includes(before.status)) throw refusedMove(before, move, from)
  const { tenant_id: tenantId, id } = before
  const started = move === 'start' && startedAt(before, { lastCallAt: await lastCallAt(tx, tenantId, id), now })
  const ended = move === 'cancel' && { completed_at: now }
  const change = { status: to, status_reason: null, updated_at: now, ...started, ...ended }
  const campaign = await updateCampaign(tx, tenantId, id, change)
  if (move === 'cancel') await cancelContacts(tx, tenantId, id, now)
  // By the pace of before: whoever is taken next would be called beside them.
  if (move === 'start' && before.started_at !== null) await freeContacts(tx, tenantId, id)
  // What kept them waiting may have been changed since.
  if (move === 'start') await hurryContacts(tx, tenantId, id, now)
  const after = await counted(tx, campaign)
  if (move === 'start' && before.started_at === null) await tell(tx, tenant, { event: 'campaign.started', after, now })
  return after
}

async function counted(handle: Db, campaign: CampaignRow): Promise<CountedCampaign> {
  const counts = await countContacts(handle, campaign.tenant_id, [campaign.id])
  return { campaign, counts: counts.get(campaign.id) ?? noneOf(campaign) }
}

/** What a request with this key has made. @throws AppError `idempotency_mismatch` for another body. */
async function earlierCampaign(db: Db, tenantId: TenantId, asked: RequestKey, now: Date): Promise<CampaignRow | null> {
  const known = await findCampaignOfKey(db, tenantId, { key: asked.key, freeBefore: keysFreeBefore(now) })
  if (known) expectSameBody(asked, known.bodyHash)
  return known?.made ?? null
}

/** Takes the key for a campaign that is about to be made; of one that somebody was faster to take, the campaign made with it. */
function takeKeyFor(tx: Tx, { tenant_id: tenantId, id }: CampaignRow, asked: RequestKey, now: Date) {
  const find = () => findCampaignOfKey(tx, tenantId, { key: asked.key, freeBefore: keysFreeBefore(now) })
  return takeKeyOrFind(tx, CAMPAIGN_KEYS, { ...asked, tenantId, madeId: id, now }, find)
}

/** Tells the tenant of a campaign, in the transaction that changed it. */
export async function tell(
  tx: Tx,
  tenant: TenantRuntime,
  { event, after, now }: { event: 'campaign.started' | 'campaign.completed'; after: CountedCampaign; now: Date },
): Promise<void> {
  const payload = { campaign: showCampaign(after.campaign, after.counts) }
  await enqueue(tx, tenant, [{ event, subject: null, payload }], now)
}

/** From then on its calls count for and against it. Its pace is kept towards the call that was placed before. */
function startedAt(
  { start_at, started_at, calls_per_second }: CampaignRow,
  { lastCallAt, now }: { lastCallAt: Date | null; now: Date },
) {
  const pacedMs = lastCallAt === null ? 0 : lastCallAt.getTime() + Math.ceil(1_000 / calls_per_second)
  const nextDialAt = new Date(Math.max(now.getTime(), start_at?.getTime() ?? 0, pacedMs))
  return { next_dial_at: nextDialAt, judged_from: now, started_at: started_at ?? now }
}

function draftOf(tenantId: TenantId, wanted: NewCampaign, now: Date): CampaignRow {
  return {
    ...{ tenant_id: tenantId, id: newId<CampaignId>(now.getTime()), name: wanted.name, agent_key: wanted.agentKey },
    ...{ from: wanted.from, status: 'draft', status_reason: null, start_at: wanted.startAt },
    ...{ hours_start: wanted.hours?.start ?? null, hours_end: wanted.hours?.end ?? null },
    ...{ calls_per_second: wanted.callsPerSecond, max_concurrent: wanted.maxConcurrent },
    ...{ max_attempts: wanted.maxAttempts, retry_minutes: wanted.retryMinutes, on_machine: wanted.onMachine },
    ...{ next_dial_at: now, judged_from: null, created_at: now, started_at: null, completed_at: null, updated_at: now },
  }
}

/** @throws AppError `not_found` */
async function expectCampaign(db: Db, tenantId: TenantId, id: string): Promise<CampaignRow> {
  const campaign = isUuid(id) ? await findCampaign(db, tenantId, id as CampaignId) : null
  if (!campaign) throw unknownCampaign()
  return campaign
}

function unknownCampaign(): AppError {
  return new AppError('not_found', 'There is no such campaign.')
}

function noneOf({ id }: CampaignRow): never {
  throw new Error(`the contacts of campaign ${id} were not counted`)
}

function refusedMove({ status }: CampaignRow, move: CampaignMove, from: readonly CampaignStatus[]): AppError {
  const sentence = `The campaign is ${status}: to ${move} it, it must be ${from.join(' or ')}.`
  return new AppError('conflict', sentence)
}
