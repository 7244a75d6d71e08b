import type { TenantId } from '../../kernel/ids.ts'
import type { KeyTable } from '../../platform/db/request-keys.ts'
import type { Db } from '../../platform/db/schema.ts'
import type { CampaignId, CampaignRow } from './campaign-store.ts'

type CampaignKeyRow = {
  tenant_id: TenantId
  key: string
  body_hash: Buffer
  campaign_id: CampaignId
  created_at: Date
}

declare module '../../platform/db/schema.ts' {
  interface Schema {
    campaign_keys: CampaignKeyRow
  }
}

/** Of keys by which requests for campaigns may be repeated. */
export const CAMPAIGN_KEYS: KeyTable = { table: 'campaign_keys', made: 'campaign_id' }

/** The campaign that a key was taken for after `freeBefore`, as it is now, and for which body; null: there is none. */
export async function findCampaignOfKey(
  db: Db,
  tenantId: TenantId,
  { key, freeBefore }: { key: string; freeBefore: Date },
): Promise<{ made: CampaignRow; bodyHash: Buffer } | null> {
  const row = await db
    .selectFrom('campaign_keys as known')
    .innerJoin('campaigns as campaign', (join) =>
      join.onRef('campaign.tenant_id', '=', 'known.tenant_id').onRef('campaign.id', '=', 'known.campaign_id'),
    )
    .selectAll('campaign')
    .select('known.body_hash')
    .where('known.tenant_id', '=', tenantId)
    .where('known.key', '=', key)
    .where('known.created_at', '>', freeBefore)
    .executeTakeFirst()
  if (!row) return null
  const { body_hash: bodyHash, ...made } = row
  return { made, bodyHash }
}
