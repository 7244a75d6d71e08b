import type { preParsingAsyncHookHandler } from 'fastify'
import { routeKey } from './role-table.ts'
import { standsBy } from './standby.ts'

const TENANT = '/api/v1/admin/tenants/:tenant_id'

/**
 * What else than reading a process does that stands by: people log in, change configuration, and see to it, before a restored installation
 * works again, that nobody is called who must not be.
 */
export const STANDBY_ROUTES: ReadonlySet<string> = new Set([
  'POST /api/v1/admin/auth/login',
  'POST /api/v1/admin/auth/logout',
  'POST /api/v1/admin/auth/invitation',

  `PUT ${TENANT}`,
  `PUT ${TENANT}/runtime-config`,
  `POST ${TENANT}/users`,
  `PATCH ${TENANT}/users/:user_id`,
  `DELETE ${TENANT}/users/:user_id`,
  `POST ${TENANT}/api-keys`,
  `DELETE ${TENANT}/api-keys/:key_id`,
  `POST ${TENANT}/agents`,
  `PATCH ${TENANT}/agents/:agent_id`,
  `POST ${TENANT}/agent-versions`,
  `PATCH ${TENANT}/agent-versions/:version_id`,
  `POST ${TENANT}/agent-versions/:version_id/publish`,
  `POST ${TENANT}/phone-routes`,
  `PUT ${TENANT}/phone-routes/:route_id`,
  `DELETE ${TENANT}/phone-routes/:route_id`,
  `PUT ${TENANT}/agents/:agent_id/rollouts`,
  `PUT ${TENANT}/agents/:agent_id/rollout-policy`,
  `PUT ${TENANT}/operator-queues/:queue_key`,
  `DELETE ${TENANT}/operator-queues/:queue_key`,

  'PUT /api/v1/admin/prompts/:key',
  'DELETE /api/v1/admin/prompts/:key',
  'POST /api/v1/admin/tenants/validate',
  'POST /api/v1/admin/tenants/evict-idle',
  'POST /api/v1/admin/tenants/reload-cached',

  'POST /api/v1/dnc',
  'POST /api/v1/dnc/import',
  'DELETE /api/v1/dnc/:phone',
  'POST /api/v1/campaigns/:id/pause',
  'POST /api/v1/campaigns/:id/cancel',

  // A caller hears a sentence, and no tone: nothing is looked up, written or asked for that.
  'POST /api/v1/incoming-call',
])

/** What is read by asking for more than it shows: streams of calls. */
const NOT_READ: ReadonlySet<string> = new Set(['GET /media-stream', 'GET /media-stream/:token'])

/** Whether a process that stands by serves a route. One that nobody thought of it serves only if it reads. */
export function servesInStandby(method: string, route: string): boolean {
  const key = routeKey(method, route)
  return STANDBY_ROUTES.has(key) || (key.startsWith('GET ') && !NOT_READ.has(key))
}

/**
 * The hook of a process that stands by: what it does not serve is refused, once it is known who asks and before the body is read.
 *
 * @throws AppError `unavailable`.
 */
export const expectServedInStandby: preParsingAsyncHookHandler = async ({ method, routeOptions, is404 }) => {
  if (!is404 && !servesInStandby(method, routeOptions.url ?? '')) throw standsBy()
}
