import type { QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import { sessionQuery } from '../api/session.ts'
import { focusPage } from '../components/late-news.tsx'
import { agentsRoutes } from './agents-routes.ts'
import { callsRoutes } from './calls-routes.ts'
import { campaignsRoutes } from './campaigns-routes.ts'
import { deskRoutes } from './desk-routes.ts'
import { installationRoutes } from './installation-routes.ts'
import { liveRoutes } from './live-routes.ts'
import { overviewRoutes } from './overview-routes.ts'
import { outerRoutes, shellRoute, tenantRoute } from './root-routes.tsx'
import { tenantSettingsRoutes } from './tenant-settings-routes.ts'

const { rootRoute, loginRoute, invitationRoute, firstRoute } = outerRoutes

/** Every page: a file of this folder makes the routes of a subject, and stands in one line here. */
const routeTree = rootRoute.addChildren([
  loginRoute,
  invitationRoute,
  shellRoute.addChildren([
    firstRoute,
    tenantRoute.addChildren([
      ...overviewRoutes,
      ...callsRoutes,
      ...liveRoutes,
      ...deskRoutes,
      ...campaignsRoutes,
      ...agentsRoutes,
      ...tenantSettingsRoutes,
    ]),
    ...installationRoutes,
  ]),
])

/** What stands in an address stays text: `+12025550123` is no number, and `007` is not seven. */
const plainSearch = {
  parseSearch: (text: string) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search: Record<string, unknown>) => {
    const given = Object.entries(search).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
    return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
  },
}

/** Makes the router of the pages below `/app/`. */
export function makeRouter(queryClient: QueryClient) {
  const router = createRouter({
    routeTree,
    basepath: '/app',
    context: { queryClient },
    defaultPreload: 'intent',
    scrollRestoration: true,
    ...plainSearch,
  })
  // What somebody may do can have been changed since they came to the page that they leave.
  router.subscribe('onBeforeLoad', ({ fromLocation, pathChanged }) => {
    if (!fromLocation || !pathChanged) return
    void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey }, { cancelRefetch: false })
  })
  // What led here is gone with the page that it stood on: whoever uses the keyboard goes on in this one, and not at the beginning of all.
  router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
    if (fromLocation && pathChanged && document.activeElement === document.body) focusPage()
  })
  return router
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>
  }
}
