import type { Clock } from '../../kernel/clock.ts'
import { newId } from '../../kernel/ids.ts'
import type { Db, Tx } from '../../platform/db/schema.ts'
import { waitBriefly } from '../../platform/db/short-waits.ts'
import { holdKnownTenant } from '../../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { completeIfDone } from './campaign-end.ts'
import { type CampaignRow, lockDueCampaign, type RunningCampaign, updateCampaign } from './campaign-store.ts'
import { type Claim, type ContactRow, claimContact, countBusy, nextDue } from './contact-store.ts'

/** The right to call somebody for a campaign, as that is with the claim: the next call waits for its pace. */
export type ClaimedContact = { campaign: CampaignRow; contact: ContactRow; claim: Claim }

/**
 * Takes the next contact of a campaign that may be called now: one at a time over all nodes, no faster than `calls_per_second`,
 * no more than `max_concurrent` at once. A campaign of which nobody is left is completed, and its tenant told so. Null when
 * there is nobody to be called now; the campaign says then when to ask again.
 */
export type ClaimNext = (tenant: TenantRuntime, running: RunningCampaign) => Promise<ClaimedContact | null>

/** Whoever has a claim writes its call down in much less; then the contact is free again. */
const CLAIM_MS = 60_000
/** While calls are on their way, the end of one makes room. */
const LOOK_AGAIN_MS = 1_000
/** With nobody due there is nothing to do, but somebody may have changed that. */
const IDLE_MS = 30_000

export function makeClaimNext({ db, clock }: { db: Db; clock: Clock }): ClaimNext {
  return (tenant, { id }) =>
    db.transaction().execute(async (tx) => {
      const now = new Date(clock.now())
      const { tenant_id: tenantId } = tenant
      await waitBriefly(tx)
      await holdKnownTenant(tx, tenantId)
      const campaign = await lockDueCampaign(tx, tenantId, id, now)
      if (!campaign) return null
      const busy = await countBusy(tx, tenantId, id, now)
      if (busy >= campaign.max_concurrent) {
        await waitUntil(tx, campaign, after(now, LOOK_AGAIN_MS))
        return null
      }
      const claim = { token: newId<string>(now.getTime()), until: after(now, CLAIM_MS) }
      const contact = await claimContact(tx, tenantId, id, { claim, now })
      if (contact) {
        const paced = await waitUntil(tx, campaign, after(now, 1_000 / campaign.calls_per_second))
        return { campaign: paced, contact, claim }
      }
      const isDone = busy === 0 && (await completeIfDone(tx, tenant, campaign, now))
      if (!isDone) await waitUntil(tx, campaign, await nextLook(tx, campaign, { busy, now }))
      return null
    })
}

/** When somebody may be due again. */
async function nextLook(tx: Tx, { tenant_id, id }: CampaignRow, { busy, now }: { busy: number; now: Date }) {
  if (busy > 0) return after(now, LOOK_AGAIN_MS)
  const due = await nextDue(tx, tenant_id, id)
  const latest = after(now, IDLE_MS)
  return due !== null && due < latest ? due : latest
}

function waitUntil(tx: Tx, { tenant_id, id }: CampaignRow, until: Date): Promise<CampaignRow> {
  return updateCampaign(tx, tenant_id, id, { next_dial_at: until })
}

function after(now: Date, ms: number): Date {
  return new Date(now.getTime() + Math.ceil(ms))
}
