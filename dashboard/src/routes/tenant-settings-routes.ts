import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { filtersOf } from '../components/filters.tsx'
import { DELIVERY_FILTERS } from '../features/deliveries/delivery-filters.ts'
import { tenantRoute } from './root-routes.tsx'

const numbersRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: 'numbers',
  component: lazyRouteComponent(() => import('../features/numbers/numbers-page.tsx'), 'NumbersPage'),
})

const settingsRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: 'settings',
  component: lazyRouteComponent(() => import('../features/tenants/tenant-page.tsx'), 'TenantPage'),
})

const peopleRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: 'people',
  component: lazyRouteComponent(() => import('../features/people/people-page.tsx'), 'PeoplePage'),
})

const deliveriesRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: 'deliveries',
  validateSearch: filtersOf(DELIVERY_FILTERS),
  component: lazyRouteComponent(() => import('../features/deliveries/deliveries-page.tsx'), 'DeliveriesPage'),
})

/** How a tenant is set up: its numbers, document, people and keys, and what its webhook got. */
export const tenantSettingsRoutes = [numbersRoute, settingsRoute, peopleRoute, deliveriesRoute] as const
