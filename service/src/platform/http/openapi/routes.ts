import type { RegisteredRoute } from '../registered-routes.ts'
import type { Schema } from './schema.ts'

/** Who a route is for, which its first tag says. */
const SURFACES = ['runtime', 'public', 'callbacks', 'operations', 'pages', 'admin'] as const
type RouteSurface = (typeof SURFACES)[number]

/** What a route says of itself. A body of an answer is a schema, or several by their content type. */
export type RouteSchema = {
  tags?: string[]
  summary?: string
  description?: string
  operationId?: string
  params?: Schema
  querystring?: Schema
  headers?: Schema
  body?: Schema
  response?: Record<string, Schema & { content?: Record<string, { schema?: Schema }> }>
}

/** A route that says enough of itself to be described. */
export type DescribedRoute = {
  method: string
  url: string
  surface: RouteSurface
  operationId: string
  summary: string
  schema: RouteSchema
  /** The same route at its present address, when this is an old one. */
  successor: string | null
}

const VERSIONED = '/api/v1'

/** Those that say enough. What answers HEAD is the GET. */
export function describedRoutes(routes: RegisteredRoute[]): DescribedRoute[] {
  const urls = new Set(routes.map(({ url }) => url))
  const described = routes.flatMap(({ method, url, schema }) => {
    const { summary, operationId, response } = schema as RouteSchema
    const surface = surfaceOf(schema)
    if (method === 'HEAD' || !surface || !summary || !operationId || !response) return []
    // A WebSocket is no old address of the request that has the same name.
    const isOld = urls.has(VERSIONED + url) && !('426' in response)
    const successor = isOld ? VERSIONED + url : null
    return [{ method, url, surface, operationId, summary, schema, successor }]
  })
  return described.map((route) => ({ ...route, operationId: ownId(route, described) }))
}

/** An old address may be made of the very schema of the new one. */
function ownId({ operationId, successor }: DescribedRoute, all: DescribedRoute[]): string {
  const isShared = all.filter((other) => other.operationId === operationId).length > 1
  return isShared && successor !== null ? `${operationId}Old` : operationId
}

function surfaceOf({ tags = [] }: RouteSchema): RouteSurface | undefined {
  return SURFACES.find((surface) => surface === tags[0])
}

/** A path as OpenAPI writes it: `/media-stream/{token}`. */
export function templateOf(url: string): string {
  return url.replaceAll(/:(\w+)/g, '{$1}')
}

/** How the part of the API that a route belongs to is called. */
export function groupOf({ url, surface, successor }: DescribedRoute): string {
  if (surface === 'pages' || surface === 'operations' || surface === 'callbacks') return GROUPS[surface]
  const [part = ''] = (successor ?? url)
    .replace(VERSIONED, '')
    .replace('/admin/', '/')
    .replace(/^\/tenants\/:tenant_id\/(?=.)/, '/')
    .slice(1)
    .split('/')
  const name = GROUPS[part] ?? part.replaceAll('-', ' ')
  return name.charAt(0).toUpperCase() + name.slice(1)
}

const GROUPS: Record<string, string> & Record<'pages' | 'operations' | 'callbacks', string> = {
  ...{ pages: 'Pages', operations: 'Operations', callbacks: 'Carrier callbacks' },
  ...{ 'make-call': 'Calls', 'browser-calls': 'Calls', 'dial-check': 'Calls', dnc: 'Do not call' },
  ...{ sessions: 'Live sessions', 'media-stream': 'Streams', logs: 'Logs', auth: 'Sign-in', alerts: 'Diagnostics' },
  ...{ 'access-requests': 'Access requests', 'api-access-requests': 'Access requests', 'api-keys': 'API keys' },
  ...{ 'phone-routes': 'Phone routes', users: 'People', outboxes: 'Webhook deliveries' },
}
