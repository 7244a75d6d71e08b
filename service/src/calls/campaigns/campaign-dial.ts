import type { ResolveAgent } from '../../agents/resolve.ts'
import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { PhoneNumber } from '../../kernel/phone.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import type { Log } from '../../platform/log.ts'
import type { CallLogRow } from '../../records/call-log-store.ts'
import { hasCall, lockNumber } from '../../records/live-call-store.ts'
import { holdKnownTenant } from '../../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { onMachine } from '../../voice/stream-begin.ts'
import { type CallingHours, USUAL_HOURS } from '../calling-hours.ts'
import type { DialGate } from '../dial-gate.ts'
import type { Dialing } from '../dialing.ts'
import { accountOf } from '../hang-up.ts'
import { NO_ACCOUNT } from '../make-call.ts'
import { outboundCaller } from '../outbound-caller.ts'
import { hasRoomToDial, type RoomToDial } from '../room-to-dial.ts'
import type { ClaimedContact } from './campaign-claim.ts'
import { insertCampaignDial } from './campaign-dial-store.ts'
import { completeIfDone } from './campaign-end.ts'
import { type CampaignRow, delayCampaign, lockCampaign, updateCampaign } from './campaign-store.ts'
import { beginContactCall, releaseContact } from './contact-store.ts'

/**
 * Calls a contact that was claimed. That it is being called, and by which call, is written in the transaction that writes the
 * call down: so it is called once, whoever dies when, and what becomes of a call in doubt is found out as for any other. Never
 * rejects: what speaks against the call is noted on the contact, or holds the campaign up.
 */
export type DialContact = (tenant: TenantRuntime, claimed: ClaimedContact) => Promise<void>

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'error'>
  resolveAgent: ResolveAgent
  capacity: RoomToDial
  hasModel: boolean
  dialing: Pick<Dialing, 'place'>
  gate: Pick<DialGate, 'opensAt' | 'everOpens'>
}

/** Whatever is said of a number by these is true tomorrow, too. */
const FOR_GOOD = new Set(['dnc_listed', 'premium_number', 'country_not_allowed', 'consent_missing'])
/** Nothing but a person can mend these. */
const UNMENDED = new Set(['invalid_request', 'missing_route', 'no_agent'])
const NEVER_OPENS =
  'No time of the day is within both its calling_hours and those of the tenant ' +
  `(compliance.calling_hours, else ${USUAL_HOURS.start}–${USUAL_HOURS.end}): start it again once that is mended.`
/** The database is away. */
const AWAY_MS = 5_000
const TENANT_BUSY_MS = 5_000
const DAY_SPENT_MS = 15 * 60_000
const CAPPED_MS = 60 * 60_000
const IN_CALL_MS = 60_000

export function makeDialContact(deps: Deps): DialContact {
  const { db, clock, log, dialing } = deps
  const inMs = (ms: number) => new Date(clock.now() + ms)

  /** @throws NoRoomHere, ClaimLost, ContactInCall, or what speaks against the call. */
  async function place(tenant: TenantRuntime, claimed: ClaimedContact): Promise<void> {
    const { campaign, contact, claim } = claimed
    const account = accountOf(tenant)
    if (account === null) return stop(claimed, NO_ACCOUNT)
    const from = campaign.from as PhoneNumber | null
    const { phone: to } = contact
    const named = { agentKey: campaign.agent_key, versionId: null, from, to, caller: to }
    const caller = await outboundCaller(deps, tenant, named)
    if (!(await hasRoomToDial(deps, tenant.tenant_id))) throw new NoRoomHere()
    const agent = onMachine(caller.agent, campaign.on_machine)
    const leaves_message = agent.config.voicemail.action === 'leave_message'
    await dialing.place(tenant, account, {
      ...{
        kind: 'campaign',
        from: caller.from,
        to: contact.phone,
        agent,
        metadata: contact.metadata,
        hours: hoursOf(campaign),
      },
      ...{
        orgId: null,
        greeting: null,
        callbackTaskId: null,
        key: null,
        campaignId: campaign.id,
        onMachine: campaign.on_machine,
      },
      onQueued: (tx, queued) => begin(tx, { campaign, contact, claim }, { queued, leaves_message }),
    })
  }

  /** @throws ClaimLost, ContactInCall, which undo the call. */
  async function begin(
    tx: Tx,
    { campaign, contact, claim }: ClaimedContact,
    { queued, leaves_message }: { queued: CallLogRow; leaves_message: boolean },
  ): Promise<void> {
    const { tenant_id: tenantId, id } = campaign
    const now = new Date(clock.now())
    await lockNumber(tx, tenantId, contact.phone)
    if (await hasCall(tx, tenantId, contact.phone, { now, exceptLogId: queued.id })) throw new ContactInCall()
    // Somebody may have paused it, or have seen its claim end.
    const isRunning = (await lockCampaign(tx, tenantId, id))?.status === 'running'
    const called = { token: claim.token, callLogId: queued.id, now }
    if (!isRunning || !(await beginContactCall(tx, contact, called))) throw new ClaimLost()
    const dial = { call_log_id: queued.id, campaign_id: id, contact_id: contact.id, leaves_message, attempted_at: now }
    await insertCampaignDial(tx, tenantId, dial)
  }

  /** Somebody else is next, or nobody for a while. */
  async function refused(tenant: TenantRuntime, claimed: ClaimedContact, error: AppError): Promise<void> {
    const { campaign, contact } = claimed
    const { code } = error
    const now = new Date(clock.now())
    if (FOR_GOOD.has(code)) return giveUp(tenant, claimed, code)
    if (code === 'outside_calling_hours') {
      const hours = hoursOf(campaign)
      // Those of the tenant may be others in a moment: nobody is given up for them.
      if (!deps.gate.everOpens(tenant, hours)) return stop(claimed, NEVER_OPENS)
      const opens = deps.gate.opensAt(tenant, { to: contact.phone, hours })
      // The number may be in zones that lie too far apart.
      if (opens === null) return giveUp(tenant, claimed, code)
      return release(claimed, { outcome: code, due_at: opens }, now)
    }
    if (code === 'attempt_cap') return release(claimed, { outcome: code, due_at: inMs(CAPPED_MS) }, now)
    if (UNMENDED.has(code)) return stop(claimed, error.message)
    const isSpent = code === 'minutes_exhausted' || code === 'budget_exhausted'
    const waitMs = isSpent ? DAY_SPENT_MS : code === 'tenant_busy' ? TENANT_BUSY_MS : AWAY_MS
    await release(claimed, { outcome: code }, inMs(waitMs))
  }

  async function release(
    { campaign, contact, claim }: ClaimedContact,
    change: Parameters<typeof releaseContact>[2]['change'],
    nextDialAt: Date,
  ): Promise<void> {
    await releaseContact(db, contact, { token: claim.token, change })
    await delayCampaign(db, campaign, nextDialAt)
  }

  /** Nobody will call the contact ever. With the last one the campaign is over, also where it was paused since it was claimed. */
  async function giveUp(tenant: TenantRuntime, { campaign, contact, claim }: ClaimedContact, outcome: string) {
    const { tenant_id: tenantId, id } = campaign
    const now = new Date(clock.now())
    await db.transaction().execute(async (tx) => {
      await holdKnownTenant(tx, tenantId)
      const locked = await lockCampaign(tx, tenantId, id)
      const change = { status: 'refused' as const, outcome, updated_at: now }
      await releaseContact(tx, contact, { token: claim.token, change })
      if (locked && !(await completeIfDone(tx, tenant, locked, now))) await delayCampaign(tx, campaign, now)
    })
  }

  /** None of its calls could be placed. */
  async function stop(claimed: ClaimedContact, reason: string): Promise<void> {
    const { tenant_id, id } = claimed.campaign
    const now = new Date(clock.now())
    await release(claimed, {}, now)
    await db.transaction().execute(async (tx) => {
      if ((await lockCampaign(tx, tenant_id, id))?.status !== 'running') return
      const change = { status: 'paused_by_breaker' as const, status_reason: reason, updated_at: now }
      await updateCampaign(tx, tenant_id, id, change)
    })
  }

  return async (tenant, claimed) => {
    const fields = { tenant_id: tenant.tenant_id, campaign_id: claimed.campaign.id }
    try {
      await place(tenant, claimed).catch(async (error: unknown) => {
        if (error instanceof ClaimLost || error instanceof NoRoomHere)
          return release(claimed, {}, new Date(clock.now()))
        if (error instanceof ContactInCall) return release(claimed, { due_at: inMs(IN_CALL_MS) }, new Date(clock.now()))
        // It is written down: what became of it will be known.
        if (error instanceof AppError && error.code === 'submission_unknown') return
        if (!(error instanceof AppError)) throw error
        await refused(tenant, claimed, error)
      })
    } catch (err) {
      // The claim ends by itself.
      log.error({ err, ...fields }, 'a contact of a campaign could not be called')
    }
  }
}

/** Somebody else may call the contact now, or nobody. */
class ClaimLost extends Error {
  override readonly name = 'ClaimLost'
}

/** This node has no room any more. Another one may have some. */
class NoRoomHere extends Error {
  override readonly name = 'NoRoomHere'
}

/** The contact talks with the tenant now, or is being called. */
class ContactInCall extends Error {
  override readonly name = 'ContactInCall'
}

function hoursOf({ hours_start: start, hours_end: end }: CampaignRow): CallingHours | null {
  return start === null || end === null ? null : { start, end }
}
