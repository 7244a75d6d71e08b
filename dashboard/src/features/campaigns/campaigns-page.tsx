import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import { useTenant } from '../../api/tenants.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { FilterBar, FilterChoice } from '../../components/filters.tsx'
import { Instant } from '../../components/instant.tsx'
import { ListPage } from '../../components/list-page.tsx'
import { type Column, RowLink } from '../../components/list-table.tsx'
import { useList } from '../../components/use-list.ts'
import type { CampaignFilters } from './campaign-filters.ts'
import { type Campaign, campaignsKey, listCampaigns, type MadeCampaign } from './campaign-queries.ts'
import { CAMPAIGN_STATUSES, CampaignStatus, doneOf } from './campaign-status.tsx'
import { LeftOut } from './left-out.tsx'
import { NewCampaign } from './new-campaign.tsx'

const REFRESH_MS = 10_000

/** The lists of people whom agents call. */
export function CampaignsPage() {
  const tenantId = useTenant()
  const filters: CampaignFilters = useSearch({ strict: false })
  const mayMake = useMay('admin')
  const [made, setMade] = useState<MadeCampaign | null>(null)
  const list = useList({
    queryKey: [...campaignsKey(tenantId), 'list', filters],
    part: (cursor) => listCampaigns(tenantId, filters, cursor),
    refresh: { everyMs: REFRESH_MS, keyOf: ({ id }) => id },
  })
  return (
    <ListPage
      title="Campaigns"
      description="An agent calls a list of people, one after the other, within the hours."
      actions={mayMake && <NewCampaign tenantId={tenantId} onMade={setMade} />}
      filters={
        <>
          {made && <LeftOut made={made} />}
          <FilterBar>
            <FilterChoice name="status" label="Status" choices={CAMPAIGN_STATUSES} />
          </FilterBar>
        </>
      }
      list={list}
      columns={columnsOf(tenantId)}
      keyOf={({ id }) => id}
      empty={<NoCampaigns isFiltered={Object.keys(filters).length > 0} />}
    />
  )
}

function NoCampaigns({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <EmptyState title="No campaign is like that">Take the filter away.</EmptyState>
  return (
    <EmptyState title="Nobody is being called">
      Make a campaign of a list of numbers. It calls nobody before it is started.{' '}
      <a href="/docs/campaigns">How campaigns call</a>
    </EmptyState>
  )
}

function columnsOf(tenantId: string): Column<Campaign>[] {
  return [
    {
      name: 'Campaign',
      isWritten: true,
      cell: ({ id, name }) => (
        <RowLink to="/t/$tenantId/campaigns/$campaignId" params={{ tenantId, campaignId: id }}>
          <bdi>{name}</bdi>
        </RowLink>
      ),
    },
    { name: 'Status', cell: ({ status }) => <CampaignStatus status={status} /> },
    {
      name: 'Agent',
      isWritten: true,
      from: 'tablet',
      cell: ({ agent_key }) => <span className="mono">{agent_key}</span>,
    },
    {
      name: 'Done',
      isNumber: true,
      cell: (campaign) => {
        const { done, total } = doneOf(campaign)
        return `${done} of ${total}`
      },
    },
    { name: 'Reached', isNumber: true, from: 'tablet', cell: ({ contacts }) => contacts.completed },
    { name: 'Made', from: 'tablet', cell: ({ created_at }) => <Instant at={created_at} /> },
  ]
}
