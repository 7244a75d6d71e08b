import { isAtLeast, ROLES, type Role } from './kernel/actor.ts'

/**
 * Who may use a route: people of a tenant from this role on, the administrator of the installation alone, or everybody, because
 * the route needs no credential or finds out by itself whose it is (a carrier's signature, a token).
 */
type Needed = Role | 'administrator' | 'everybody'

/**
 * Every route there is. A route that is missing here is refused to people of tenants, and a test fails until somebody has
 * decided who may use it. Holders of keys are not asked: a key may all that its surface can.
 */
export const ROLE_TABLE: Record<string, Needed> = {
  'GET /livez': 'everybody',
  'GET /readyz': 'everybody',
  'GET /health': 'everybody',
  'GET /metrics': 'everybody',

  'POST /api/v1/incoming-call': 'everybody',
  'POST /incoming-call': 'everybody',
  'POST /api/v1/call-status': 'everybody',
  'POST /api/v1/call-status/:dial_ref': 'everybody',
  'POST /api/v1/call-resume': 'everybody',
  'POST /api/v1/call-resume/:dial_ref': 'everybody',
  'GET /media-stream': 'everybody',
  'GET /media-stream/:token': 'everybody',

  'POST /api/v1/admin/auth/login': 'everybody',
  'POST /api/v1/admin/auth/logout': 'everybody',
  'POST /api/v1/admin/auth/invitation': 'everybody',
  'GET /api/v1/admin/auth/session': 'everybody',
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
  'GET /api/v1/admin/tenants/:tenant_id/agent-versions': 'viewer',
  'POST /api/v1/admin/tenants/:tenant_id/agent-versions': 'admin',
  'PATCH /api/v1/admin/tenants/:tenant_id/agent-versions/:version_id': 'admin',
  'POST /api/v1/admin/tenants/:tenant_id/agent-versions/:version_id/publish': 'admin',
  'GET /api/v1/admin/tenants/:tenant_id/phone-routes': 'viewer',
  'POST /api/v1/admin/tenants/:tenant_id/phone-routes': 'admin',
  'PUT /api/v1/admin/tenants/:tenant_id/phone-routes/:route_id': 'admin',
  'DELETE /api/v1/admin/tenants/:tenant_id/phone-routes/:route_id': 'admin',
  // Lists over tenants, of which people see their own.
  'GET /api/v1/admin/audit-log': 'viewer',
  'GET /api/v1/admin/sessions': 'viewer',
  'GET /api/v1/admin/supervisor-actions': 'viewer',

  'GET /api/v1/call-logs': 'viewer',
  'GET /api/v1/call-logs/:call_sid': 'viewer',
  'GET /api/v1/voice-sessions': 'viewer',
  'GET /api/v1/voice-sessions/:id': 'viewer',
  'GET /api/v1/voice-sessions/:id/recording': 'viewer',
  'GET /api/v1/sessions/active': 'viewer',
  'GET /api/v1/sessions/:stream_sid': 'viewer',
  'GET /api/v1/sessions/:stream_sid/events': 'viewer',
  'POST /api/v1/sessions/:stream_sid/actions': 'operator',
  'GET /api/v1/dnc': 'viewer',
  'GET /api/v1/dnc/:phone': 'viewer',
  'POST /api/v1/dnc': 'operator',
  'DELETE /api/v1/dnc/:phone': 'operator',
  'POST /api/v1/dial-check': 'operator',
  'POST /api/v1/make-call': 'admin',
  'POST /make-call': 'admin',
  'POST /api/v1/browser-calls': 'admin',
}

const isRole = (needed: Needed): needed is Role => (ROLES as readonly Needed[]).includes(needed)

/** Whether people of a tenant who have this role may use the route; no for one that the table does not have. */
export function mayDo(role: Role, method: string, route: string): boolean {
  const needed = ROLE_TABLE[routeKey(method, route)]
  if (needed === undefined) return false
  return isRole(needed) ? isAtLeast(role, needed) : needed === 'everybody'
}

/** How the table names a route: what answers HEAD is the GET. */
export function routeKey(method: string, route: string): string {
  return `${method === 'HEAD' ? 'GET' : method} ${route}`
}
