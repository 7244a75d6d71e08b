import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, lazyRouteComponent, Outlet, redirect } from '@tanstack/react-router'
import { sessionQuery, whoseIs } from '../api/session.ts'
import { filtersOf } from '../components/filters.tsx'
import { OVERVIEW_FILTERS } from '../features/overview/overview-filters.ts'
import { FirstPage } from './first-page.tsx'
import { PageFailure } from './page-failure.tsx'
import { Shell } from './shell.tsx'
import { TenantFrame } from './tenant-frame.tsx'
import { UnknownPage } from './unknown-page.tsx'

const rootRoute = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: Outlet,
  errorComponent: PageFailure,
  notFoundComponent: UnknownPage,
})

const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/login',
  validateSearch: filtersOf(['return_to']),
  component: lazyRouteComponent(() => import('../features/login/login-page.tsx'), 'LoginPage'),
})

const invitationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitation',
  component: lazyRouteComponent(() => import('../features/login/invitation-page.tsx'), 'InvitationPage'),
})

/** Everything that somebody has to be logged in for. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  component: Shell,
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient.query({ ...sessionQuery, staleTime: 'static' })
    if (whoseIs(session) === null) redirect({ to: '/login', search: { return_to: location.publicHref }, throw: true })
  },
})

const firstRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  validateSearch: filtersOf(OVERVIEW_FILTERS),
  component: FirstPage,
})

/** The pages of one tenant, whose id stands in their address. Another one's begin anew: what is typed for one is not sent for the other. */
export const tenantRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/t/$tenantId',
  remountDeps: ({ params }) => params.tenantId,
  component: TenantFrame,
})

/** The pages that need nobody, and those that stand around the others. */
export const outerRoutes = { rootRoute, loginRoute, invitationRoute, firstRoute }
