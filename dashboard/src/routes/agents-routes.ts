import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { tenantRoute } from './root-routes.tsx'

const agentsRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: 'agents',
  component: lazyRouteComponent(() => import('../features/agents/agents-page.tsx'), 'AgentsPage'),
})

const agentRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: 'agents/$agentId',
  component: lazyRouteComponent(() => import('../features/agents/agent-page.tsx'), 'AgentPage'),
})

const versionRoute = createRoute({
  getParentRoute: () => tenantRoute,
  path: 'agents/$agentId/versions/$versionId',
  component: lazyRouteComponent(() => import('../features/agents/version-page.tsx'), 'VersionPage'),
})

/** The list of agents, each of them, and each of their versions. */
export const agentsRoutes = [agentsRoute, agentRoute, versionRoute] as const
