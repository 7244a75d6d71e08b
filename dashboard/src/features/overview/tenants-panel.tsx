import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTenantNames } from '../../api/tenants.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { Instant } from '../../components/instant.tsx'
import type { Column } from '../../components/list-table.tsx'
import { PlainTable } from '../../components/plain-table.tsx'
import { ReadPanel } from '../../components/read-panel.tsx'
import { NoneUntil } from './counted-until.tsx'
import { FIGURE_COLUMNS } from './figure-columns.tsx'
import type { Range } from './overview-filters.ts'
import type { Analytics, AnalyticsRow, Picked } from './overview-queries.ts'
import { countText, numberOf } from './overview-text.ts'

type TenantsPanelProps = { query: UseQueryResult<Analytics>; range: Range; picked: Picked }

/** What the calls of each tenant came to; its overview is behind its name, its calls behind their number. */
export function TenantsPanel({ query, range, picked }: TenantsPanelProps) {
  const nameOf = useTenantNames()
  return (
    <ReadPanel title="By tenant" aside={<SpanPicked picked={picked} range={range} />} query={query}>
      {({ rows, since, until, counted_until: at }) =>
        rows.length === 0 ? (
          <EmptyState title={<NoneUntil what="No tenant had calls" at={at} />}>Look further back.</EmptyState>
        ) : (
          <PlainTable
            label="By tenant"
            columns={columnsOf(range, { since, until }, nameOf)}
            rows={rows.toSorted((a, b) => b.minutes - a.minutes || b.calls - a.calls)}
            keyOf={({ tenant_id: id }) => id ?? ''}
          />
        )
      }
    </ReadPanel>
  )
}

function SpanPicked({ picked, range }: { picked: Picked; range: Range }) {
  if (picked === null) return range.label
  return (
    <span>
      <Instant at={picked.since} /> to <Instant at={picked.until} />
      {' · '}
      <Link to="/" search={{ range: range.value }}>
        All {range.label}
      </Link>
    </span>
  )
}

function columnsOf(
  range: Range,
  span: { since: string; until: string },
  nameOf: (tenantId: string) => string,
): Column<AnalyticsRow>[] {
  return [
    {
      name: 'Tenant',
      cell: ({ tenant_id: tenantId = '' }) => (
        <Link to="/t/$tenantId/overview" params={{ tenantId }} search={{ range: range.value }}>
          <bdi>{nameOf(tenantId)}</bdi>
        </Link>
      ),
    },
    {
      name: 'Calls',
      isNumber: true,
      cell: ({ tenant_id: tenantId = '', calls }) => (
        <Link
          to="/t/$tenantId/calls"
          params={{ tenantId }}
          search={span}
          aria-label={`${numberOf(calls, 'call')} of ${nameOf(tenantId)}`}
        >
          {countText(calls)}
        </Link>
      ),
    },
    ...FIGURE_COLUMNS,
  ]
}
