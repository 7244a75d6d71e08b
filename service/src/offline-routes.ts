import { routeKey } from './role-table.ts'

const ADMIN = '/api/v1/admin'

/** Tenants live in memory where there is no database, and in the database where there is one. */
const TENANT_DOCUMENTS = [
  `GET ${ADMIN}/tenants`,
  `GET ${ADMIN}/tenants/:tenant_id`,
  `PUT ${ADMIN}/tenants/:tenant_id`,
  `DELETE ${ADMIN}/tenants/:tenant_id`,
  `GET ${ADMIN}/tenants/:tenant_id/runtime-config`,
  `PUT ${ADMIN}/tenants/:tenant_id/runtime-config`,
]

/** What works with DATABASE_URL=none: calls while they last, tenants as long as the process lives, and what tells of both. */
const OFFLINE_ROUTES = new Set([
  ...TENANT_DOCUMENTS,
  ...['GET /livez', 'GET /readyz', 'GET /health', 'GET /metrics'],
  ...[
    'GET /',
    'GET /app',
    'GET /app/*',
    'GET /docs',
    'GET /docs/:page',
    'GET /getting-started',
    'GET /swagger-ui',
    'GET /page-assets/:file',
  ],
  ...['GET /api-docs/public.json', 'GET /api-docs/admin.json', 'GET /api-docs/openapi.json'],

  'POST /api/v1/incoming-call',
  'POST /api/v1/make-call',
  'POST /api/v1/call-status',
  'POST /api/v1/call-status/:dial_ref',
  'POST /api/v1/call-resume',
  'POST /api/v1/call-resume/:dial_ref',
  'POST /api/v1/transfers/:token',
  'POST /api/v1/transfers/:token/keys',
  'POST /api/v1/transfers/:token/status',
  'POST /api/v1/browser-calls',
  'GET /media-stream',
  'GET /media-stream/:token',

  'GET /api/v1/sessions/active',
  'GET /api/v1/sessions/:stream_sid',
  'GET /api/v1/sessions/:stream_sid/events',
  'POST /api/v1/sessions/:stream_sid/actions',
  'POST /api/v1/sessions/:stream_sid/listen',
  'POST /api/v1/sessions/:stream_sid/takeover',
  'GET /api/v1/logs',
  'GET /logs',

  `POST ${ADMIN}/tenants/validate`,
  `GET ${ADMIN}/tenants/cached`,
  `GET ${ADMIN}/tenants/cache-metrics`,
  `GET ${ADMIN}/tenants/cache-metrics/by-token`,
  `POST ${ADMIN}/tenants/evict-idle`,
  `POST ${ADMIN}/tenants/reload-cached`,
  `GET ${ADMIN}/tenants/audio-providers`,
  `GET ${ADMIN}/sessions`,
  `POST ${ADMIN}/auth/login`,
  `POST ${ADMIN}/auth/logout`,
  `GET ${ADMIN}/auth/session`,
  `GET ${ADMIN}/auth/sso/start`,
  `GET ${ADMIN}/auth/sso/callback`,
  `GET ${ADMIN}/auth/transport`,
  `GET ${ADMIN}/alerts/auth-transport`,
])

/** Whether a route works without a database. One that nobody thought of does not. */
export function needsNoDatabase(method: string, route: string): boolean {
  return OFFLINE_ROUTES.has(routeKey(method, route))
}

const IN_DATABASE = new Set(TENANT_DOCUMENTS)

/** Whether a route asks the database, where there is one, before all else that it does. */
export function asksDatabase(method: string, route: string): boolean {
  return IN_DATABASE.has(routeKey(method, route)) || !needsNoDatabase(method, route)
}
