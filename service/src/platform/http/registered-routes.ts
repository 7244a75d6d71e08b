import type { FastifyInstance, onRouteHookHandler } from 'fastify'

/** A route as it was registered, such as `GET /api/v1/call-logs`, with what it says of itself. */
export type RegisteredRoute = { method: string; url: string; schema: object }

const routesOfServers = new WeakMap<object, RegisteredRoute[]>()

/** Remembers every route that is registered from now on, for whoever has to look at all of them. */
export function rememberRoutes(server: FastifyInstance): void {
  const routes: RegisteredRoute[] = []
  routesOfServers.set(server, routes)
  const remember: onRouteHookHandler = ({ method, url, schema = {} }) => {
    for (const each of [method].flat()) routes.push({ method: each, url, schema })
  }
  server.addHook('onRoute', remember)
}

/** All of them, those that answer HEAD too. */
export function registeredRoutes(server: object): RegisteredRoute[] {
  return routesOfServers.get(server) ?? []
}
