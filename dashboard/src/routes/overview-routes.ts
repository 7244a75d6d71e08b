import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { filtersOf } from '../components/filters.tsx'
import { OVERVIEW_FILTERS } from '../features/overview/overview-filters.ts'
import { tenantRoute } from './root-routes.tsx'

const overviewRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: 'overview',
  validateSearch: filtersOf(OVERVIEW_FILTERS),
  component: lazyRouteComponent(() => import('../features/overview/overview-page.tsx'), 'OverviewPage'),
})

/** The address of a tenant, as somebody shortens one. */
const tenantIndexRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/',
  beforeLoad: ({ params }) => redirect({ to: '/t/$tenantId/overview', params, replace: true, throw: true }),
})

/** What the calls of a tenant came to. */
export const overviewRoutes = [tenantIndexRoute, overviewRoute] as const
