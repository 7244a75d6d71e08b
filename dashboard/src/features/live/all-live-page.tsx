import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { BackLink } from '../../components/back-link.tsx'
import { Beneath } from '../../components/beneath.tsx'
import { Elapsed } from '../../components/elapsed.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { RowButtons } from '../../components/fields.tsx'
import { ListPage } from '../../components/list-page.tsx'
import { type Column, RowLink } from '../../components/list-table.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { TenantName } from '../../components/tenant-name.tsx'
import { words } from '../../components/text.ts'
import { allLiveQuery, type LiveCallOfAll } from './live-queries.ts'
import { whoIn } from './live-state.tsx'

/** The calls of all tenants that go on now, for administrators. */
export function AllLivePage() {
  const { data: rows, error, refetch } = useQuery(allLiveQuery)
  const whole = { of: 'all', hasMore: false, isLoadingMore: false, loadMore: () => {} }
  return (
    <ListPage
      title="Live calls of all tenants"
      description="Who is talking now. Open a call to read along and to step in."
      above={<BackLink to="/">All tenants</BackLink>}
      list={{ rows, error, reload: () => void refetch(), ...whole }}
      columns={COLUMNS}
      keyOf={keyOf}
      empty={<EmptyState title="No call is going on">A call stands here as soon as somebody rings.</EmptyState>}
    />
  )
}

function keyOf({ tenant, stream_sid: streamSid }: LiveCallOfAll): string {
  return `${tenant} ${streamSid}`
}

const COLUMNS: Column<LiveCallOfAll>[] = [
  {
    name: 'Who',
    isWritten: true,
    cell: (call) => (
      <>
        <RowLink to="/t/$tenantId/live/$streamSid" params={{ tenantId: call.tenant, streamSid: call.stream_sid }}>
          {whoIn(call)}
        </RowLink>
        <Beneath>
          <bdi>{call.agent_name}</bdi>
        </Beneath>
      </>
    ),
  },
  {
    name: 'Tenant',
    isWritten: true,
    cell: ({ tenant }) => (
      <RowButtons>
        <Link to="/t/$tenantId/live" params={{ tenantId: tenant }}>
          <TenantName tenantId={tenant} />
        </Link>
      </RowButtons>
    ),
  },
  { name: 'Agent', isWritten: true, from: 'tablet', cell: ({ agent_name: name }) => <bdi>{name}</bdi> },
  { name: 'Direction', from: 'tablet', cell: ({ call_type: type }) => words(type) },
  { name: 'For', isNumber: true, cell: ({ started_at: since }) => <Elapsed since={since} /> },
  {
    name: 'State',
    cell: ({ escalated }) =>
      escalated ? <StatusBadge tone="bad">Escalated</StatusBadge> : <StatusBadge tone="good">Going on</StatusBadge>,
  },
]
