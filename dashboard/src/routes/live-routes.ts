import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { filtersOf } from '../components/filters.tsx'
import { tenantRoute } from './root-routes.tsx'

/** Whom one talks to, as it stands in the address. */
const TALK_CHOICES = ['agent_key', 'agent_version_id'] as const

const talkRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: 'talk',
  validateSearch: filtersOf(TALK_CHOICES),
  component: lazyRouteComponent(() => import('../features/talk/talk-page.tsx'), 'TalkPage'),
})

const liveRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: 'live',
  component: lazyRouteComponent(() => import('../features/live/live-page.tsx'), 'LivePage'),
})

const liveCallRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: 'live/$streamSid',
  component: lazyRouteComponent(() => import('../features/live/live-call-page.tsx'), 'LiveCallPage'),
})

/** The calls that go on, each of them, and where one makes one from the browser. */
export const liveRoutes = [talkRoute, liveRoute, liveCallRoute] as const
