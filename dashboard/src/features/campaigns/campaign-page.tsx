import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useMay } from '../../api/session.ts'
import { useTenant } from '../../api/tenants.ts'
import { BackLink } from '../../components/back-link.tsx'
import { Beneath } from '../../components/beneath.tsx'
import { DetailPage } from '../../components/detail-page.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { type Fact, Facts } from '../../components/facts.tsx'
import { FilterBar, FilterChoice } from '../../components/filters.tsx'
import { Instant } from '../../components/instant.tsx'
import { ListPanel } from '../../components/list-panel.tsx'
import type { Column } from '../../components/list-table.tsx'
import { Note } from '../../components/note.tsx'
import { Panel } from '../../components/panel.tsx'
import { ProgressBar } from '../../components/progress-bar.tsx'
import { DASH, phoneText, words } from '../../components/text.ts'
import { useList } from '../../components/use-list.ts'
import { attemptsText } from './attempts-text.ts'
import type { CampaignFilters } from './campaign-filters.ts'
import { CampaignMoves } from './campaign-moves.tsx'
import { type Campaign, type Contact, campaignQuery, campaignsKey, isMoving, listContacts } from './campaign-queries.ts'
import { CampaignStatus, CONTACT_STATUSES, ContactStatus, doneOf } from './campaign-status.tsx'

const REFRESH_MS = 5_000

/** A campaign: how far it has come, and what has become of each contact. */
export function CampaignPage() {
  const tenantId = useTenant()
  const { campaignId = '' } = useParams({ strict: false })
  const { data, error, refetch } = useQuery(campaignQuery(tenantId, campaignId))
  const mayMove = useMay('admin')
  return (
    <DetailPage
      title={data ? { name: data.name } : 'Campaign'}
      above={
        <BackLink to="/t/$tenantId/campaigns" params={{ tenantId }}>
          Campaigns
        </BackLink>
      }
      description={data && <CampaignStatus status={data.status} />}
      actions={mayMove && data && <CampaignMoves campaign={data} />}
      thing={data}
      error={error}
      onRetry={() => void refetch()}
    >
      {(campaign) => (
        <>
          {campaign.status_reason !== null && <Note>{campaign.status_reason}</Note>}
          <Progress campaign={campaign} />
          <Link to="/t/$tenantId/calls" params={{ tenantId: campaign.tenant_id }} search={{ campaign_id: campaign.id }}>
            Its calls
          </Link>
          <Panel title="How it calls">
            <Facts facts={factsOf(campaign)} />
          </Panel>
          <Contacts key={campaign.id} campaign={campaign} />
        </>
      )}
    </DetailPage>
  )
}

function Progress({ campaign }: { campaign: Campaign }) {
  const { done, total } = doneOf(campaign)
  const { completed, failed, refused, cancelled, dialing, pending } = campaign.contacts
  return (
    <Panel title="Progress" aside={`${done} of ${total} done`}>
      <ProgressBar label="Progress" value={done} max={Math.max(1, total)} />
      <Facts
        facts={[
          ['Reached', completed],
          ['On the line', dialing],
          ['Waiting', pending],
          ['Called in vain', failed],
          ['May not be called', refused],
          ...(cancelled > 0 ? [['Not called any more', cancelled] satisfies Fact] : []),
        ]}
      />
    </Panel>
  )
}

function factsOf(campaign: Campaign): Fact[] {
  const { calling_hours: hours, retry_minutes: waits, on_machine: onMachine } = campaign
  return [
    ['Agent', campaign.agent_key],
    ['From', campaign.from === null ? "The tenant's number" : phoneText(campaign.from)],
    ['Pace', `${campaign.calls_per_second} a second, ${campaign.max_concurrent} at once`],
    ['Calls to one contact', attemptsText(campaign.max_attempts, waits)],
    ['Hours', hours === null ? "The tenant's" : `${hours.start} to ${hours.end}`],
    ['On a machine', onMachine === null ? 'What the agent does' : words(onMachine)],
    ['Not before', campaign.start_at && <Instant at={campaign.start_at} />],
    ['Started', campaign.started_at && <Instant at={campaign.started_at} />],
    ['Ended', campaign.completed_at && <Instant at={campaign.completed_at} />],
  ]
}

function Contacts({ campaign }: { campaign: Campaign }) {
  const filters: CampaignFilters = useSearch({ strict: false })
  const { tenant_id: tenantId, id } = campaign
  const client = useQueryClient()
  const moves = isMoving(campaign)
  const list = useList({
    queryKey: [...campaignsKey(tenantId), id, 'contacts', filters],
    part: (cursor) => listContacts(campaign, filters, cursor),
    refresh: moves && { everyMs: REFRESH_MS, keyOf: ({ id: contactId }) => contactId },
  })
  useEffect(() => {
    if (!moves) return
    // What has moved last is read once more: the campaign is asked for more often than its contacts.
    return () => void client.invalidateQueries({ queryKey: [...campaignsKey(tenantId), id, 'contacts'] })
  }, [moves, client, tenantId, id])
  return (
    <ListPanel
      title="Contacts"
      list={list}
      columns={columnsOf(tenantId)}
      keyOf={(contact) => contact.id}
      empty={<EmptyState title="Nobody is like that">Take the filter away.</EmptyState>}
    >
      <FilterBar>
        <FilterChoice name="status" label="Status" choices={CONTACT_STATUSES} />
      </FilterBar>
    </ListPanel>
  )
}

function columnsOf(tenantId: string): Column<Contact>[] {
  return [
    { name: 'Number', cell: ({ phone }) => <span className="numbers">{phoneText(phone)}</span> },
    {
      name: 'Status',
      cell: ({ status, outcome }) => (
        <>
          <ContactStatus status={status} />
          {outcome && <Beneath>{words(outcome)}</Beneath>}
        </>
      ),
    },
    { name: 'What came of it', from: 'tablet', cell: ({ outcome }) => words(outcome) },
    { name: 'Calls', isNumber: true, from: 'tablet', cell: ({ attempts }) => attempts },
    { name: 'Called next', from: 'desktop', cell: ({ due_at: at }) => <Instant at={at} /> },
    {
      name: 'Last call',
      cell: ({ call_sid: callSid }) =>
        callSid === null ? (
          DASH
        ) : (
          <Link to="/t/$tenantId/calls/$callSid" params={{ tenantId, callSid }}>
            Read it
          </Link>
        ),
    },
  ]
}
