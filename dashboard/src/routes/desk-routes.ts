import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { filtersOf } from '../components/filters.tsx'
import { DESK_FILTERS } from '../features/desk/desk-filters.ts'
import { LIST_FILTERS } from '../features/do-not-call/list-filters.ts'
import { tenantRoute } from './root-routes.tsx'

const deskRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: 'desk',
  validateSearch: filtersOf(DESK_FILTERS),
  component: lazyRouteComponent(() => import('../features/desk/desk-page.tsx'), 'DeskPage'),
})

const taskRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: 'desk/tasks/$taskId',
  component: lazyRouteComponent(() => import('../features/desk/task-page.tsx'), 'TaskPage'),
})

const queueRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: 'desk/queues/$queueKey',
  component: lazyRouteComponent(() => import('../features/desk/queue-page.tsx'), 'QueuePage'),
})

const sweepsRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: 'desk/sweeps',
  component: lazyRouteComponent(() => import('../features/desk/sweeps-page.tsx'), 'SweepsPage'),
})

const doNotCallRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: 'do-not-call',
  validateSearch: filtersOf(LIST_FILTERS),
  component: lazyRouteComponent(() => import('../features/do-not-call/do-not-call-page.tsx'), 'DoNotCallPage'),
})

/** What operators work on, and whom nobody calls. */
export const deskRoutes = [deskRoute, taskRoute, queueRoute, sweepsRoute, doNotCallRoute] as const
