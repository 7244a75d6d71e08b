import type { FastifyInstance, FastifySchema, onRequestHookHandler, onRouteHookHandler, RouteOptions } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route is the old address of another one. */
    isOldAddress?: boolean
  }
}

const PREFIX = '/api/v1'
const ADMIN_PREFIX = `${PREFIX}/admin`

/** What has no old address: `/logs` is the WebSocket that follows the log. */
const NONE = new Set([`${PREFIX}/logs`])

/** The route that has taken the place of an old one; also of a path without any version that never had one. */
export function successorOf(url: string): string {
  return `${PREFIX}${url}`
}

function oldAddressOf(url: string): string | null {
  const isVersioned = url.startsWith(`${PREFIX}/`) && !url.startsWith(`${ADMIN_PREFIX}/`)
  return isVersioned && !NONE.has(url) ? url.slice(PREFIX.length) : null
}

/**
 * Gives every route of tenants, carriers and the intake that is registered from now on its address without a version too: the
 * same handler behind the same hooks, marked as deprecated, its answers with what `sayOldAddress` adds.
 */
export function keepOldPaths(server: FastifyInstance): void {
  const register: onRouteHookHandler = function (this: FastifyInstance, route) {
    const url = oldAddressOf(route.url)
    // The framework adds HEAD to the old GET as it did to the new one.
    if (url === null || route.method === 'HEAD') return
    this.route(atOldAddress(route, url))
  }
  server.addHook('onRoute', register)
  server.addHook('onRequest', sayOldAddress)
}

/** What descriptions of the API say of a route beside its shapes. */
type Described = { summary?: string; operationId?: string }

function atOldAddress(route: RouteOptions, url: string): RouteOptions {
  const schema: (FastifySchema & Described) | undefined = route.schema
  const described = schema && {
    ...schema,
    deprecated: true,
    ...(schema.summary !== undefined && { summary: `${schema.summary} (old address)` }),
    ...(schema.operationId !== undefined && { operationId: `${schema.operationId}Old` }),
  }
  return { ...route, url, config: { ...route.config, isOldAddress: true }, ...(described && { schema: described }) }
}

/** The hook that says so on every answer, refusals included, and names the address to use instead. */
const sayOldAddress: onRequestHookHandler = (request, reply, done) => {
  if (request.routeOptions.config.isOldAddress) {
    reply.headers(oldAddressHeaders(request.url.replace(/[?#].*$/s, '')))
  }
  done()
}

function oldAddressHeaders(path: string): { deprecation: string; link: string } {
  const successor = successorOf(path.replace(/[<>"]/g, encodeURIComponent))
  return { deprecation: 'true', link: `<${successor}>; rel="successor-version"` }
}

/** The same for a path that no route takes with its method: an old address is one whose successor takes what it takes itself. */
export function headersOfOldPath(path: string, takes: (path: string) => boolean): Record<string, string> {
  return oldAddressOf(successorOf(path)) === path && takes(successorOf(path)) ? oldAddressHeaders(path) : {}
}
