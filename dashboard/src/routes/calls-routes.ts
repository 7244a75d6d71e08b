import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { filtersOf } from '../components/filters.tsx'
import { CALL_FILTERS, CONVERSATION_FILTERS } from '../features/calls/call-filters.ts'
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

const conversationsRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: 'conversations',
  validateSearch: filtersOf(CONVERSATION_FILTERS),
  component: lazyRouteComponent(() => import('../features/calls/conversations-page.tsx'), 'ConversationsPage'),
})

/** The list of calls, each of them, and what was said in them. */
export const callsRoutes = [callsRoute, callRoute, conversationsRoute] as const
