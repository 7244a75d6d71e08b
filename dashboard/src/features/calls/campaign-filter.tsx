import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { FilterLine } from '../../components/filters.tsx'
import type { CallFilters } from './call-filters.ts'
import { campaignNameQuery } from './call-queries.ts'

/** Of which campaign the calls are, where its page has led to them, and how to get out of that. */
export function CampaignFilter({ tenantId }: { tenantId: string }) {
  const { campaign_id: campaignId }: CallFilters = useSearch({ strict: false })
  if (campaignId === undefined) return null
  return (
    <FilterLine names={['campaign_id']} leave="Of any campaign or none">
      <Named tenantId={tenantId} campaignId={campaignId} />
    </FilterLine>
  )
}

/** By its name, once that is known. */
function Named({ tenantId, campaignId }: { tenantId: string; campaignId: string }) {
  const { data: name } = useQuery(campaignNameQuery(tenantId, campaignId))
  if (name === undefined) return 'Of one campaign'
  return (
    <span>
      Of the campaign{' '}
      <Link to="/t/$tenantId/campaigns/$campaignId" params={{ tenantId, campaignId }}>
        <bdi>{name}</bdi>
      </Link>
    </span>
  )
}
