import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { filtersOf } from '../components/filters.tsx'
import { ACCESS_FILTERS } from '../features/access-requests/access-filters.ts'
import { AUDIT_FILTERS, SUPERVISOR_FILTERS } from '../features/audit-log/audit-filters.ts'
import { LOG_FILTERS } from '../features/logs/log-filters.ts'
import { shellRoute } from './root-routes.tsx'

const tenantsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tenants',
  component: lazyRouteComponent(() => import('../features/tenants/tenants-page.tsx'), 'TenantsPage'),
})

const promptsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/prompts',
  component: lazyRouteComponent(() => import('../features/prompts/prompts-page.tsx'), 'PromptsPage'),
})

const accessRequestsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/access-requests',
  validateSearch: filtersOf(ACCESS_FILTERS),
  component: lazyRouteComponent(
    () => import('../features/access-requests/access-requests-page.tsx'),
    'AccessRequestsPage',
  ),
})

const diagnosticsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/diagnostics',
  component: lazyRouteComponent(() => import('../features/diagnostics/diagnostics-page.tsx'), 'DiagnosticsPage'),
})

const auditLogRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit-log',
  validateSearch: filtersOf(AUDIT_FILTERS),
  component: lazyRouteComponent(() => import('../features/audit-log/audit-log-page.tsx'), 'AuditLogPage'),
})

const supervisorActionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/supervisor-actions',
  validateSearch: filtersOf(SUPERVISOR_FILTERS),
  component: lazyRouteComponent(
    () => import('../features/audit-log/supervisor-actions-page.tsx'),
    'SupervisorActionsPage',
  ),
})

const allLiveRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/live',
  component: lazyRouteComponent(() => import('../features/live/all-live-page.tsx'), 'AllLivePage'),
})

const logsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/logs',
  validateSearch: filtersOf(LOG_FILTERS),
  component: lazyRouteComponent(() => import('../features/logs/logs-page.tsx'), 'LogsPage'),
})

/** The pages that are of no tenant. */
export const installationRoutes = [
  tenantsRoute,
  promptsRoute,
  accessRequestsRoute,
  diagnosticsRoute,
  auditLogRoute,
  supervisorActionsRoute,
  allLiveRoute,
  logsRoute,
] as const
