import type { Clock } from '../../kernel/clock.ts'
import type { AppError } from '../../kernel/errors.ts'
import type { Db } from '../../platform/db/schema.ts'
import { dayLeftMs } from '../../records/spent-today.ts'
import { holdKnownTenant } from '../../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { type CallingHours, USUAL_HOURS } from '../calling-hours.ts'
import type { DialGate } from '../dial-gate.ts'
import type { ClaimedContact } from './campaign-claim.ts'
import { completeIfDone } from './campaign-end.ts'
import { type CampaignRow, delayCampaign, lockCampaign, updateCampaign } from './campaign-store.ts'
import { releaseContact } from './contact-store.ts'

type Deps = { db: Db; clock: Clock; gate: Pick<DialGate, 'opensAt' | 'everOpens'> }

type ContactChange = Parameters<typeof releaseContact>[2]['change']

/** What becomes of a claimed contact who was not called, and of the campaign. */
export type ContactRefusals = {
  /** Somebody else is next, or nobody for a while. */
  refused(tenant: TenantRuntime, claimed: ClaimedContact, error: AppError): Promise<void>
  /** Gives the contact back, and has the campaign call nobody before an instant. */
  release(claimed: ClaimedContact, change: ContactChange, nextDialAt: Date): Promise<void>
  /** None of the campaign's calls could be placed: it waits for a person. */
  stop(claimed: ClaimedContact, reason: string): Promise<void>
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
/** What its day may take can be raised at any time, by whom nobody tells of it. */
const DAY_SPENT_MS = 60_000
const CAPPED_MS = 60 * 60_000

export function makeContactRefusals({ db, clock, gate }: Deps): ContactRefusals {
  const inMs = (ms: number) => new Date(clock.now() + ms)

  async function refused(tenant: TenantRuntime, claimed: ClaimedContact, error: AppError): Promise<void> {
    const { campaign, contact } = claimed
    const { code } = error
    const now = new Date(clock.now())
    if (FOR_GOOD.has(code)) return giveUp(tenant, claimed, code)
    if (code === 'outside_calling_hours') {
      const hours = hoursOf(campaign)
      // Those of the tenant may be others in a moment: nobody is given up for them.
      if (!gate.everOpens(tenant, hours)) return stop(claimed, NEVER_OPENS)
      const opens = gate.opensAt(tenant, { to: contact.phone, hours })
      // The number may be in zones that lie too far apart.
      if (opens === null) return giveUp(tenant, claimed, code)
      return release(claimed, { outcome: code, due_at: opens }, now)
    }
    if (code === 'attempt_cap') return release(claimed, { outcome: code, due_at: inMs(CAPPED_MS) }, now)
    if (UNMENDED.has(code)) return stop(claimed, error.message)
    const isSpent = code === 'minutes_exhausted' || code === 'budget_exhausted'
    const waitMs = isSpent ? Math.min(DAY_SPENT_MS, dayLeftMs(now)) : code === 'tenant_busy' ? TENANT_BUSY_MS : AWAY_MS
    await release(claimed, { outcome: code }, inMs(waitMs))
  }

  async function release(
    { campaign, contact, claim }: ClaimedContact,
    change: ContactChange,
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

  return { refused, release, stop }
}

/** The campaign's own hours; null: those of the tenant alone. */
export function hoursOf({ hours_start: start, hours_end: end }: CampaignRow): CallingHours | null {
  return start === null || end === null ? null : { start, end }
}
