import type { Tx } from '../../platform/db/schema.ts'
import { holdKnownTenant } from '../../tenancy/known-tenant.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { completeIfDone } from '../campaigns/campaign-end.ts'
import type { KeyPage } from './key-page-store.ts'
import type { NumberCounts } from './number-erasure-store.ts'
import { eraseContacts, lockCampaignsWith, type NumberSubject } from './number-subject-store.ts'

/** `eraseContacts`, by which a campaign is over that had nobody else left to be called. */
export async function eraseFromCampaigns(
  tx: Tx,
  tenant: TenantRuntime,
  subject: NumberSubject,
  { page, now }: { page: KeyPage; now: Date },
): Promise<NumberCounts> {
  const { tenant_id: tenantId } = tenant
  await holdKnownTenant(tx, tenantId)
  const campaigns = await lockCampaignsWith(tx, tenantId, subject, page)
  const counts = await eraseContacts(tx, tenantId, subject, page)
  for (const campaign of campaigns) await completeIfDone(tx, tenant, campaign, now)
  return counts
}
