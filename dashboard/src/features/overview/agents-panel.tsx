import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { EmptyState } from '../../components/empty-state.tsx'
import type { Column } from '../../components/list-table.tsx'
import { PlainTable } from '../../components/plain-table.tsx'
import { ReadPanel } from '../../components/read-panel.tsx'
import { NoneUntil } from './counted-until.tsx'
import { FIGURE_COLUMNS } from './figure-columns.tsx'
import type { Analytics, AnalyticsRow } from './overview-queries.ts'
import { countText, numberOf } from './overview-text.ts'

type AgentsPanelProps = { tenantId: string; query: UseQueryResult<Analytics> }

/** What the calls of each agent came to; its calls are behind their number. */
export function AgentsPanel({ tenantId, query }: AgentsPanelProps) {
  return (
    <ReadPanel title="By agent" query={query}>
      {({ rows, since, until, counted_until: at }) =>
        rows.length === 0 ? (
          <EmptyState title={<NoneUntil what="No agent had calls" at={at} />}>Look further back.</EmptyState>
        ) : (
          <PlainTable
            label="By agent"
            columns={columnsOf(tenantId, { since, until })}
            rows={rows.toSorted((a, b) => b.calls - a.calls)}
            keyOf={({ agent_key: key }) => key ?? ''}
          />
        )
      }
    </ReadPanel>
  )
}

function columnsOf(tenantId: string, span: { since: string; until: string }): Column<AnalyticsRow>[] {
  return [
    { name: 'Agent', cell: ({ agent_key: key }) => key ?? "the tenant document's" },
    {
      name: 'Calls',
      isNumber: true,
      cell: ({ agent_key: key, calls }) => (
        <Link
          to="/t/$tenantId/calls"
          params={{ tenantId }}
          search={{ ...span, ...(key ? { agent_key: key } : { without_agent: 'true' }) }}
          aria-label={`${numberOf(calls, 'call')} of ${key ?? "the tenant document's agent"}`}
        >
          {countText(calls)}
        </Link>
      ),
    },
    ...FIGURE_COLUMNS,
  ]
}
