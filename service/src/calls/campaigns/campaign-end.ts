import type { Tx } from '../../platform/db/schema.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { type CampaignRow, updateCampaign } from './campaign-store.ts'
import { tell } from './campaigns.ts'
import { countContacts, hasOpenContacts } from './contact-store.ts'

/**
 * Completes a campaign of which nobody is left, whether it runs or was paused, and tells its tenant so, once. To be called with
 * `lockCampaign`, and with its tenant held.
 *
 * @returns false for one of which somebody is still to be called, or being called, or that is over.
 */
export async function completeIfDone(
  tx: Tx,
  tenant: TenantRuntime,
  { tenant_id, id, status }: CampaignRow,
  now: Date,
): Promise<boolean> {
  if (status === 'completed' || status === 'cancelled' || (await hasOpenContacts(tx, tenant_id, id))) return false
  const change = { status: 'completed' as const, status_reason: null, completed_at: now, updated_at: now }
  const campaign = await updateCampaign(tx, tenant_id, id, change)
  const counts = (await countContacts(tx, tenant_id, [id])).get(id)
  if (counts) await tell(tx, tenant, { event: 'campaign.completed', after: { campaign, counts }, now })
  return true
}
