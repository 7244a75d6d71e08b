import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { filtersOf } from '../components/filters.tsx'
import { CALL_FILTERS } from '../features/calls/call-filters.ts'
import { tenantRoute } from './root-routes.tsx'

const callsRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: 'calls',
  validateSearch: filtersOf(CALL_FILTERS),
  component: lazyRouteComponent(() => import('../features/calls/calls-page.tsx'), 'CallsPage'),
})

const callRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: 'calls/$callSid',
  component: lazyRouteComponent(() => import('../features/calls/call-page.tsx'), 'CallPage'),
})

/** The list of calls, and each of them. */
export const callsRoutes = [callsRoute, callRoute] as const
