import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useTenant } from '../../api/tenants.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { Page } from '../../components/page.tsx'
import { TalkLink } from '../../components/talk-link.tsx'
import { AgentsPanel } from './agents-panel.tsx'
import { CallCharts } from './call-charts.tsx'
import { NoneUntil } from './counted-until.tsx'
import { FigureTiles } from './figure-tiles.tsx'
import { LatePanel } from './late-panel.tsx'
import { type OverviewFilters, rangeIn } from './overview-filters.ts'
import { type Analytics, agentsQuery, callsQuery, isUnread, lateQuery, sinceOf } from './overview-queries.ts'
import { RangeChoice } from './range-choice.tsx'
import { ReadFigures } from './read-figures.tsx'

/** What the calls of a tenant came to. */
export function OverviewPage() {
  const tenantId = useTenant()
  const filters: OverviewFilters = useSearch({ strict: false })
  const range = rangeIn(filters)
  const navigate = useNavigate()
  const calls = useQuery(callsQuery(tenantId, range))
  const agents = useQuery(agentsQuery(tenantId, range, sinceOf(calls)))
  const late = useQuery(lateQuery(tenantId))
  const lateTasks = late.data?.reduce((sum, { breached }) => sum + breached, 0)
  const params = { tenantId }
  return (
    <Page
      title="Overview"
      description="What calls came to. A bar or a point leads to its calls."
      actions={<RangeChoice range={range} />}
      isInOrder
    >
      <ReadFigures query={calls} empty={(analytics) => <NoCalls analytics={analytics} />}>
        {(analytics) => (
          <>
            <FigureTiles
              totals={analytics.totals}
              callsLink={(text) => (
                <Link
                  to="/t/$tenantId/calls"
                  params={params}
                  search={{ since: analytics.since, until: analytics.until }}
                >
                  {text}
                </Link>
              )}
              late={lateTasks}
              lateLink={(text) => (
                <Link to="/t/$tenantId/desk" params={params}>
                  {text}
                </Link>
              )}
            />
            <CallCharts
              analytics={analytics}
              onPick={({ starts_at: since, ends_at: until }) => {
                void navigate({ to: '/t/$tenantId/calls', params, search: { since, until } })
              }}
              linkTo={({ starts_at: since, ends_at: until }, name) => (
                <Link to="/t/$tenantId/calls" params={params} search={{ since, until }}>
                  {name}
                </Link>
              )}
            />
          </>
        )}
      </ReadFigures>
      {!isUnread(calls) && <AgentsPanel tenantId={tenantId} query={agents} />}
      <LatePanel query={late} />
    </Page>
  )
}

function NoCalls({ analytics }: { analytics: Analytics }) {
  const tenantId = useTenant()
  return (
    <EmptyState title={<NoneUntil what="No calls" at={analytics.counted_until} />}>
      Look further back, or make one: <TalkLink tenantId={tenantId} after=", or " />
      ring a number that is routed to an agent. A call is here once it is counted, as a rule within half a minute.{' '}
      <a href="/docs/getting-started">The first call, step by step</a>
    </EmptyState>
  )
}
