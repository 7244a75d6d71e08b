import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { filtersOf } from '../components/filters.tsx'
import { OVERVIEW_FILTERS } from '../features/overview/overview-filters.ts'
import { tenantRoute } from './root-routes.tsx'

const overviewRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: 'overview',
  validateSearch: filtersOf(OVERVIEW_FILTERS),
  component: lazyRouteComponent(() => import('../features/overview/overview-page.tsx'), 'OverviewPage'),
})

/** What the calls of a tenant came to. */
export const overviewRoutes = [overviewRoute] as const
