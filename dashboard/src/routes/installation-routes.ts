import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { filtersOf } from '../components/filters.tsx'
import { ACCESS_FILTERS } from '../features/access-requests/access-filters.ts'
import { AUDIT_FILTERS } from '../features/audit-log/audit-filters.ts'
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
  logsRoute,
] as const
