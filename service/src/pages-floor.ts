import { apiFacts } from './api-description.ts'
import type { Deps } from './deps.ts'
import { apiDocRoutes } from './platform/http/openapi/api-doc-routes.ts'
import { DashboardFiles } from './platform/http/pages/dashboard-files.ts'
import { dashboardRoutes } from './platform/http/pages/dashboard-routes.ts'
import { makePages } from './platform/http/pages/page-maker.ts'
import { pageAssetRoutes, pageRoutes } from './platform/http/pages/page-routes.ts'
import type { RateLimits } from './platform/http/rate-limits.ts'
import type { HttpServer } from './platform/http/server.ts'
import { publicUrlOf } from './public-url.ts'

const GUIDES = new URL('../../docs/', import.meta.url)
const BUILT_DASHBOARD = new URL('../../dashboard/dist/', import.meta.url)

/** What the service tells of itself: the descriptions of its API, the guides, and the dashboard. */
export async function wirePages(deps: Deps, limits: RateLimits, server: HttpServer): Promise<void> {
  const publicUrl = () => publicUrlOf(deps, server)
  const pages = makePages({ folder: GUIDES, publicUrl })
  await server.register(apiDocRoutes({ facts: () => apiFacts(server, publicUrl()), limits }))
  await server.register(pageRoutes({ pages, limits }))
  await server.register(pageAssetRoutes({ pages, limits }))
  await server.register(dashboardRoutes({ files: new DashboardFiles(BUILT_DASHBOARD), limits }))
}
