import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useCurrentTenant } from '../../api/tenants.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { Page } from '../../components/page.tsx'
import { TalkLink } from '../../components/talk-link.tsx'
import { CallCharts } from './call-charts.tsx'
import { NoneUntil } from './counted-until.tsx'
import { FigureTiles } from './figure-tiles.tsx'
import { LatePanel } from './late-panel.tsx'
import { type OverviewFilters, rangeIn } from './overview-filters.ts'
import {
  type Analytics,
  allCallsQuery,
  allLateQuery,
  isUnread,
  type Picked,
  sinceOf,
  tenantsQuery,
} from './overview-queries.ts'
import { RangeChoice } from './range-choice.tsx'
import { ReadFigures } from './read-figures.tsx'
import { TenantsPanel } from './tenants-panel.tsx'

/** What the calls of all tenants came to, for administrators. */
export function InstallationPage() {
  const filters: OverviewFilters = useSearch({ strict: false })
  const range = rangeIn(filters)
  const picked = pickedIn(filters)
  const navigate = useNavigate()
  const calls = useQuery(allCallsQuery(range))
  const tenants = useQuery(tenantsQuery(range, picked, sinceOf(calls)))
  const late = useQuery(allLateQuery)
  const lateTasks = late.data?.reduce((sum, { breached }) => sum + breached, 0)
  return (
    <Page
      title="All tenants"
      description={
        <>
          What calls came to. A bar or a point shows whose calls they were, and leads to them.{' '}
          <Link to="/live">Live calls of all tenants</Link>
        </>
      }
      actions={<RangeChoice range={range} />}
      isInOrder
    >
      {!(picked === null && isUnread(calls)) && <TenantsPanel query={tenants} range={range} picked={picked} />}
      <ReadFigures query={calls} empty={(analytics) => <NoCalls analytics={analytics} />}>
        {(analytics) => (
          <>
            <FigureTiles totals={analytics.totals} late={lateTasks} />
            <CallCharts
              analytics={analytics}
              onPick={({ starts_at: since, ends_at: until }) => {
                void navigate({ to: '/', search: { range: range.value, since, until } })
              }}
              linkTo={({ starts_at: since, ends_at: until }, name) => (
                <Link to="/" search={{ range: range.value, since, until }}>
                  {name}
                </Link>
              )}
            />
          </>
        )}
      </ReadFigures>
      <LatePanel query={late} ofAll />
    </Page>
  )
}

function pickedIn({ since, until }: OverviewFilters): Picked {
  return since && until ? { since, until } : null
}

function NoCalls({ analytics }: { analytics: Analytics }) {
  const tenantId = useCurrentTenant()
  return (
    <EmptyState title={<NoneUntil what="No calls" at={analytics.counted_until} />}>
      Look further back, or make one: {tenantId !== null && <TalkLink tenantId={tenantId} after=", or " />}
      ring a number that is routed to one. A call is here once it is counted, as a rule within half a minute.{' '}
      <a href="/docs/getting-started">The first call</a>
    </EmptyState>
  )
}
