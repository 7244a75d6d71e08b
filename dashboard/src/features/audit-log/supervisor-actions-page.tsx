import { Link, useSearch } from '@tanstack/react-router'
import { BackLink } from '../../components/back-link.tsx'
import { Beneath } from '../../components/beneath.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Facts } from '../../components/facts.tsx'
import { Column as Below, RowButtons } from '../../components/fields.tsx'
import { FilterBar, FilterChoice, FilterText } from '../../components/filters.tsx'
import { Instant } from '../../components/instant.tsx'
import { JsonView } from '../../components/json-view.tsx'
import { ListPage } from '../../components/list-page.tsx'
import type { Column } from '../../components/list-table.tsx'
import { LookButton } from '../../components/look-button.tsx'
import { supervisorText } from '../../components/supervisor-text.ts'
import { TenantName } from '../../components/tenant-name.tsx'
import { DASH } from '../../components/text.ts'
import { useList } from '../../components/use-list.ts'
import type { SupervisorFilters } from './audit-filters.ts'
import { listSupervisorActions, SUPERVISOR_ACTIONS, type SupervisorAction } from './audit-queries.ts'

/** What supervisors did to the live calls of all tenants, for administrators. */
export function SupervisorActionsPage() {
  const filters: SupervisorFilters = useSearch({ strict: false })
  const list = useList({
    queryKey: ['supervisor-actions', filters],
    part: (cursor) => listSupervisorActions(filters, cursor),
  })
  return (
    <ListPage
      title="Supervisors"
      description="What people did to live calls of all tenants, newest first."
      above={<BackLink to="/audit-log">Audit log</BackLink>}
      filters={
        <FilterBar>
          <FilterText name="tenant_id" label="Id of the tenant" />
          <FilterChoice name="action" label="Action" choices={SUPERVISOR_ACTIONS} textOf={supervisorText} />
          <FilterText name="stream_sid" label="Id of the stream" />
        </FilterBar>
      }
      list={list}
      columns={COLUMNS}
      keyOf={({ id }) => id}
      empty={<NoActions isFiltered={Object.keys(filters).length > 0} />}
    />
  )
}

function NoActions({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <EmptyState title="Nothing is like that">Take a filter away.</EmptyState>
  return (
    <EmptyState title="Nobody has stepped in yet">
      Whatever somebody does to a live call stands here: a note, a whisper, a takeover, its end.
    </EmptyState>
  )
}

const COLUMNS: Column<SupervisorAction>[] = [
  { name: 'When', cell: ({ created_at }) => <Instant at={created_at} /> },
  { name: 'Who', isWritten: true, cell: ({ supervisor }) => <bdi>{supervisor ?? DASH}</bdi> },
  {
    name: 'Action',
    cell: (action) => (
      <>
        {supervisorText(action.action)}
        <Beneath>
          <TenantLink action={action} />
        </Beneath>
      </>
    ),
  },
  { name: 'Tenant', isWritten: true, from: 'tablet', cell: (action) => <TenantLink action={action} /> },
  {
    name: 'With',
    isWritten: true,
    from: 'desktop',
    cell: ({ target, reason, note }) => <bdi>{target ?? reason ?? note ?? DASH}</bdi>,
  },
  {
    name: 'Actions',
    isActions: true,
    cell: (action) => (
      <RowButtons>
        <ActionDetail action={action} />
      </RowButtons>
    ),
  },
]

function TenantLink({ action: { tenant_id: tenantId } }: { action: SupervisorAction }) {
  return (
    <Link to="/t/$tenantId/overview" params={{ tenantId }}>
      <TenantName tenantId={tenantId} />
    </Link>
  )
}

function ActionDetail({ action }: { action: SupervisorAction }) {
  const { tenant_id: tenantId, call_sid: callSid, stream_sid: streamSid, metadata } = action
  return (
    <LookButton title={supervisorText(action.action)}>
      <Below>
        <Facts
          facts={[
            ['Who', action.supervisor],
            ['When', <Instant key="when" at={action.created_at} />],
            ['Tenant', <TenantLink key="tenant" action={action} />],
            [
              'Call',
              <Link key="call" to="/t/$tenantId/calls/$callSid" params={{ tenantId, callSid }}>
                {callSid}
              </Link>,
            ],
            ['Id of the stream', streamSid],
            ['Target', action.target],
            ['Reason', action.reason],
            ['Note', action.note],
          ]}
        />
        {Object.keys(metadata).length > 0 && <JsonView label="Metadata" value={metadata} />}
      </Below>
    </LookButton>
  )
}
