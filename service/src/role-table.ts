import { isAtLeast, ROLES, type Role } from './kernel/actor.ts'
import { successorOf } from './platform/http/old-paths.ts'

/**
 * Who may use a route: people of a tenant from this role on, the administrator of the installation alone, or everybody, because
 * the route needs no credential or finds out by itself whose it is (a carrier's signature, a token).
 */
type Needed = Role | 'administrator' | 'everybody'

/**
 * Every route there is. A route that is missing here is refused to people of tenants, and a test fails until somebody has
 * decided who may use it. An old address is in the row of its successor. Holders of keys are not asked: a key may all that its
 * surface can.
 */
export const ROLE_TABLE: Record<string, Needed> = {
  'GET /livez': 'everybody',
  'GET /readyz': 'everybody',
  'GET /health': 'everybody',
  'GET /metrics': 'everybody',
  'GET /': 'everybody',
  'GET /app': 'everybody',
  'GET /app/*': 'everybody',
  'GET /docs': 'everybody',
  'GET /docs/:page': 'everybody',
  'GET /getting-started': 'everybody',
  'GET /swagger-ui': 'everybody',
  'GET /page-assets/:file': 'everybody',
  'GET /api-docs/public.json': 'everybody',
  'GET /api-docs/admin.json': 'everybody',
  'GET /api-docs/openapi.json': 'everybody',

  'POST /api/v1/incoming-call': 'everybody',
  'POST /api/v1/call-status': 'everybody',
  'POST /api/v1/call-status/:dial_ref': 'everybody',
  'POST /api/v1/call-resume': 'everybody',
  'POST /api/v1/call-resume/:dial_ref': 'everybody',
  'POST /api/v1/transfers/:token': 'everybody',
  'POST /api/v1/transfers/:token/keys': 'everybody',
  'POST /api/v1/transfers/:token/status': 'everybody',
  'GET /media-stream': 'everybody',
  'GET /media-stream/:token': 'everybody',

  'POST /api/v1/access-requests': 'everybody',

  'POST /api/v1/admin/auth/login': 'everybody',
  'POST /api/v1/admin/auth/logout': 'everybody',
  'POST /api/v1/admin/auth/invitation': 'everybody',
  'GET /api/v1/admin/auth/session': 'everybody',
  'GET /api/v1/admin/auth/sso/start': 'everybody',
  'GET /api/v1/admin/auth/sso/callback': 'everybody',
  'GET /api/v1/admin/auth/transport': 'administrator',
  'GET /api/v1/admin/alerts/auth-transport': 'administrator',

  'GET /api/v1/admin/tenants': 'administrator',
  'GET /api/v1/admin/tenants/:tenant_id': 'viewer',
  'PUT /api/v1/admin/tenants/:tenant_id': 'admin',
  'DELETE /api/v1/admin/tenants/:tenant_id': 'administrator',
  'GET /api/v1/admin/tenants/:tenant_id/users': 'viewer',
  'POST /api/v1/admin/tenants/:tenant_id/users': 'admin',
  'PATCH /api/v1/admin/tenants/:tenant_id/users/:user_id': 'admin',
  'DELETE /api/v1/admin/tenants/:tenant_id/users/:user_id': 'admin',
  'GET /api/v1/admin/tenants/:tenant_id/api-keys': 'viewer',
  'POST /api/v1/admin/tenants/:tenant_id/api-keys': 'admin',
  'DELETE /api/v1/admin/tenants/:tenant_id/api-keys/:key_id': 'admin',
  'GET /api/v1/admin/tenants/:tenant_id/agents': 'viewer',
  'POST /api/v1/admin/tenants/:tenant_id/agents': 'admin',
  'PATCH /api/v1/admin/tenants/:tenant_id/agents/:agent_id': 'admin',
  'GET /api/v1/admin/tenants/:tenant_id/agent-versions': 'viewer',
  'POST /api/v1/admin/tenants/:tenant_id/agent-versions': 'admin',
  'PATCH /api/v1/admin/tenants/:tenant_id/agent-versions/:version_id': 'admin',
  'POST /api/v1/admin/tenants/:tenant_id/agent-versions/:version_id/publish': 'admin',
  'GET /api/v1/admin/tenants/:tenant_id/phone-routes': 'viewer',
  'POST /api/v1/admin/tenants/:tenant_id/phone-routes': 'admin',
  'PUT /api/v1/admin/tenants/:tenant_id/phone-routes/:route_id': 'admin',
  'DELETE /api/v1/admin/tenants/:tenant_id/phone-routes/:route_id': 'admin',
  'GET /api/v1/admin/tenants/:tenant_id/agents/:agent_id/rollouts': 'viewer',
  'PUT /api/v1/admin/tenants/:tenant_id/agents/:agent_id/rollouts': 'admin',
  'GET /api/v1/admin/tenants/:tenant_id/agents/:agent_id/rollout-policy': 'viewer',
  'PUT /api/v1/admin/tenants/:tenant_id/agents/:agent_id/rollout-policy': 'admin',
  'POST /api/v1/admin/tenants/:tenant_id/agents/:agent_id/rollout-governance/evaluate': 'admin',
  'GET /api/v1/admin/tenants/:tenant_id/runtime-config': 'viewer',
  'PUT /api/v1/admin/tenants/:tenant_id/runtime-config': 'admin',
  'GET /api/v1/admin/tenants/:tenant_id/webhook-deliveries': 'viewer',
  'POST /api/v1/admin/tenants/:tenant_id/webhook-deliveries': 'admin',
  'GET /api/v1/admin/tenants/:tenant_id/operator-queues/:queue_key': 'viewer',
  'PUT /api/v1/admin/tenants/:tenant_id/operator-queues/:queue_key': 'admin',
  'DELETE /api/v1/admin/tenants/:tenant_id/operator-queues/:queue_key': 'admin',

  // Over all tenants, or of none.
  'GET /api/v1/admin/audit-log': 'administrator',
  'GET /api/v1/admin/sessions': 'administrator',
  'GET /api/v1/admin/supervisor-actions': 'administrator',
  'GET /api/v1/admin/callback-tasks': 'administrator',
  'GET /api/v1/admin/api-access-requests': 'administrator',
  'PATCH /api/v1/admin/api-access-requests/:id': 'administrator',
  'GET /api/v1/admin/prompts': 'administrator',
  'GET /api/v1/admin/prompts/:key': 'administrator',
  'PUT /api/v1/admin/prompts/:key': 'administrator',
  'DELETE /api/v1/admin/prompts/:key': 'administrator',
  'POST /api/v1/admin/tenants/validate': 'administrator',
  'GET /api/v1/admin/tenants/cached': 'administrator',
  'GET /api/v1/admin/tenants/cache-metrics': 'administrator',
  'GET /api/v1/admin/tenants/cache-metrics/by-token': 'administrator',
  'POST /api/v1/admin/tenants/evict-idle': 'administrator',
  'POST /api/v1/admin/tenants/reload-cached': 'administrator',
  'GET /api/v1/admin/tenants/audio-providers': 'administrator',
  'GET /api/v1/admin/outboxes/depth': 'administrator',
  'POST /api/v1/admin/outboxes/billing-outcomes/sweep': 'administrator',
  'GET /api/v1/admin/outboxes/:outbox/deliveries': 'administrator',
  'POST /api/v1/admin/outboxes/:outbox/deliveries': 'administrator',
  'GET /api/v1/admin/analytics/calls': 'administrator',
  'POST /api/v1/admin/analytics/sweep': 'administrator',
  'POST /api/v1/admin/rollout-governance/sweep': 'administrator',
  'GET /api/v1/admin/operator-queues/breaches': 'administrator',
  'POST /api/v1/admin/operator-queues/sweep': 'administrator',
  'POST /api/v1/admin/operator-queues/follow-up-notifications/sweep': 'administrator',
  'POST /api/v1/admin/operator-queues/dispatch': 'administrator',
  'POST /api/v1/admin/operator-queues/external-reconciliation/sweep': 'administrator',

  'GET /api/v1/call-logs': 'viewer',
  'GET /api/v1/call-logs/:call_sid': 'viewer',
  'POST /api/v1/call-logs/:call_sid/cancel': 'operator',
  'GET /api/v1/voice-sessions': 'viewer',
  'GET /api/v1/voice-sessions/:id': 'viewer',
  'GET /api/v1/voice-sessions/:id/recording': 'viewer',
  'DELETE /api/v1/voice-sessions/:id': 'admin',
  'POST /api/v1/erasures': 'admin',
  'GET /api/v1/erasures': 'viewer',
  'GET /api/v1/erasures/:id': 'viewer',
  'GET /api/v1/analytics/calls': 'viewer',
  'GET /api/v1/evaluations': 'viewer',
  'POST /api/v1/voice-sessions/:id/evaluations': 'operator',
  'GET /api/v1/sessions/active': 'viewer',
  'GET /api/v1/sessions/:stream_sid': 'viewer',
  'GET /api/v1/sessions/:stream_sid/events': 'viewer',
  'POST /api/v1/sessions/:stream_sid/actions': 'operator',
  'POST /api/v1/sessions/:stream_sid/listen': 'operator',
  'POST /api/v1/sessions/:stream_sid/takeover': 'operator',
  'GET /api/v1/logs': 'viewer',
  'GET /logs': 'viewer',
  'GET /api/v1/dnc': 'viewer',
  'GET /api/v1/dnc/:phone': 'viewer',
  'POST /api/v1/dnc': 'operator',
  'DELETE /api/v1/dnc/:phone': 'operator',
  'POST /api/v1/dnc/import': 'operator',
  'GET /api/v1/dnc/export': 'viewer',
  'GET /api/v1/webhook-deliveries': 'viewer',
  'POST /api/v1/webhook-deliveries': 'admin',
  'GET /api/v1/callback-tasks': 'viewer',
  'POST /api/v1/callback-tasks': 'operator',
  'GET /api/v1/callback-tasks/:id': 'viewer',
  'PATCH /api/v1/callback-tasks/:id': 'operator',
  'GET /api/v1/callback-tasks/:id/history': 'viewer',
  'POST /api/v1/callback-tasks/:id/acknowledge': 'operator',
  'POST /api/v1/callback-tasks/:id/claim': 'operator',
  'POST /api/v1/callback-tasks/:id/assign': 'operator',
  'POST /api/v1/callback-tasks/:id/release': 'operator',
  'POST /api/v1/callback-tasks/:id/snooze': 'operator',
  'POST /api/v1/callback-tasks/:id/wake': 'operator',
  'POST /api/v1/callback-tasks/:id/complete': 'operator',
  'POST /api/v1/callback-tasks/:id/cancel': 'operator',
  'POST /api/v1/callback-tasks/:id/reopen': 'operator',
  'POST /api/v1/callback-tasks/:id/dispatch': 'operator',
  'GET /api/v1/operator-queues': 'viewer',
  'POST /api/v1/operator-queues/:queue_key/claim-next': 'operator',
  'POST /api/v1/dial-check': 'operator',
  'POST /api/v1/make-call': 'admin',
  'GET /api/v1/campaigns': 'viewer',
  'POST /api/v1/campaigns': 'admin',
  'GET /api/v1/campaigns/:id': 'viewer',
  'GET /api/v1/campaigns/:id/calls': 'viewer',
  'POST /api/v1/campaigns/:id/start': 'admin',
  'POST /api/v1/campaigns/:id/pause': 'admin',
  'POST /api/v1/campaigns/:id/cancel': 'admin',
  'POST /api/v1/browser-calls': 'admin',
  'POST /api/v1/chats': 'admin',
  'GET /api/v1/simulations': 'viewer',
  'POST /api/v1/simulations': 'admin',
  'GET /api/v1/simulations/:id': 'viewer',
  'GET /api/v1/simulations/:id/runs/:run_id': 'viewer',
  'POST /api/v1/simulations/:id/cancel': 'admin',
  'POST /api/v1/tools/:name/test': 'admin',
}

const isRole = (needed: Needed): needed is Role => (ROLES as readonly Needed[]).includes(needed)

/** Whether people of a tenant who have this role may use the route; no for one that the table does not have. */
export function mayDo(role: Role, method: string, route: string): boolean {
  const needed = ROLE_TABLE[routeKey(method, route)]
  if (needed === undefined) return false
  return isRole(needed) ? isAtLeast(role, needed) : needed === 'everybody'
}

/** How the table names a route: what answers HEAD is the GET, and an old address is its successor. */
export function routeKey(method: string, route: string): string {
  const name = (path: string) => `${method === 'HEAD' ? 'GET' : method} ${path}`
  const own = name(route)
  const successor = name(successorOf(route))
  return own in ROLE_TABLE || !(successor in ROLE_TABLE) ? own : successor
}
