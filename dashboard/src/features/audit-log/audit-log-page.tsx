import { Link, useSearch } from '@tanstack/react-router'
import { BrokenAddress } from '../../components/broken-address.tsx'
import { Comparison } from '../../components/comparison.tsx'
import { DottedName } from '../../components/dotted-name.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Facts } from '../../components/facts.tsx'
import { Column as Below, RowButtons } from '../../components/fields.tsx'
import { FilterBar, FilterDay, FilterText } from '../../components/filters.tsx'
import { Instant } from '../../components/instant.tsx'
import { ListPage } from '../../components/list-page.tsx'
import type { Column } from '../../components/list-table.tsx'
import { LookButton } from '../../components/look-button.tsx'
import { TenantName } from '../../components/tenant-name.tsx'
import { DASH, words } from '../../components/text.ts'
import { useList } from '../../components/use-list.ts'
import type { AuditFilters } from './audit-filters.ts'
import { type AuditEntry, listEntries } from './audit-queries.ts'

/** Who changed what. */
export function AuditLogPage() {
  const filters: AuditFilters = useSearch({ strict: false })
  const list = useList({ queryKey: ['audit-log', filters], part: (cursor) => listEntries(filters, cursor) })
  return (
    <ListPage
      title="Audit log"
      description={
        <>
          Who changed what, newest first. Nothing is ever deleted here.{' '}
          <Link to="/supervisor-actions">What supervisors did to live calls</Link>
        </>
      }
      filters={
        <FilterBar>
          <FilterText name="tenant_id" label="Id of the tenant" />
          <FilterText name="actor" label="Who" />
          <FilterText name="action" label="Action" placeholder="api_key.revoked" />
          <FilterText name="target_id" label="To what" />
          <FilterDay name="first_day" label="First day" />
          <FilterDay name="last_day" label="Last day" />
        </FilterBar>
      }
      list={list}
      columns={COLUMNS}
      keyOf={({ id }) => id}
      empty={<EmptyState title="Nothing is like that">Take a filter away, or ask for more days.</EmptyState>}
    />
  )
}

const COLUMNS: Column<AuditEntry>[] = [
  { name: 'When', cell: ({ created_at }) => <Instant at={created_at} /> },
  { name: 'Who', isWritten: true, cell: ({ actor }) => <BrokenAddress address={actor} /> },
  { name: 'Action', cell: ({ action }) => <DottedName name={action} /> },
  {
    name: 'Tenant',
    isWritten: true,
    from: 'tablet',
    cell: ({ tenant_id: id }) => (id === null ? DASH : <TenantName tenantId={id} />),
  },
  {
    name: 'To what',
    isWritten: true,
    from: 'desktop',
    cell: ({ target_id }) => <span className="mono">{target_id ?? DASH}</span>,
  },
  {
    name: 'Actions',
    isActions: true,
    cell: (entry) => (
      <RowButtons>
        <EntryDetail entry={entry} />
      </RowButtons>
    ),
  },
]

function EntryDetail({ entry }: { entry: AuditEntry }) {
  const { action, actor, actor_kind: kind, tenant_id, target_id, before, after, created_at } = entry
  return (
    <LookButton title={action}>
      <Below>
        <Facts
          facts={[
            ['Who', `${actor} (${words(kind).toLowerCase()})`],
            ['When', <Instant key="when" at={created_at} />],
            ['Tenant', tenant_id && <TenantName key="tenant" tenantId={tenant_id} />],
            ['Id of the tenant', tenant_id],
            ['To what', target_id],
          ]}
        />
        <Comparison before={{ title: 'Before', value: before ?? {} }} after={{ title: 'After', value: after ?? {} }} />
      </Below>
    </LookButton>
  )
}
