import { by, type EndpointRow, endpoint } from './row.ts'

const PROBES = 'src/platform/http/probes'
const DASHBOARD = 'src/platform/http/pages/dashboard-routes'
const GUIDES = 'test/guides.db'
const DESCRIPTIONS = 'test/api-docs.db'

const compressed = (name: string): string =>
  `come compressed to those who take that, and not at all to those who have them: ${name}`

/** What needs no credential: the intake, the pages, the probes. */
export const OPEN_ROWS: EndpointRow[] = [
  endpoint(
    'POST /api/v1/access-requests',
    'requestAccess',
    by('src/tenancy/access-request-routes.db', 'keeps a request for review, and counts it for its address'),
    { answers: 'message ok request_id', errors: [400, 429, 503] },
  ),
  endpoint('GET /', 'getHome', by(GUIDES, 'leave the root to the dashboard')),
  endpoint('GET /app', 'getDashboardHome', by(DASHBOARD, 'stands below /app/')),
  endpoint(
    'GET /app/*',
    'getDashboard',
    by(DASHBOARD, 'is one page at every address that is no file, which is asked for each time'),
  ),
  endpoint('GET /docs', 'getDocs', by(GUIDES, 'count for the address of whoever asks, and their files do not')),
  endpoint(
    'GET /docs/:page',
    'getDocsPage',
    by(GUIDES, 'are not asked for twice by those who have them, and have the policy of pages'),
  ),
  endpoint(
    'GET /getting-started',
    'getGettingStarted',
    by(GUIDES, 'count for the address of whoever asks, and their files do not'),
  ),
  endpoint(
    'GET /swagger-ui',
    'getSwaggerUi',
    by(GUIDES, 'count for the address of whoever asks, and their files do not'),
  ),
  endpoint(
    'GET /page-assets/:file',
    'getPageAsset',
    by(GUIDES, 'count for the address of whoever asks, and their files do not'),
  ),
  endpoint('GET /api-docs/public.json', 'getPublicDescription', by(DESCRIPTIONS, compressed('public'))),
  endpoint('GET /api-docs/admin.json', 'getAdminDescription', by(DESCRIPTIONS, compressed('admin'))),
  endpoint('GET /api-docs/openapi.json', 'getDescription', by(DESCRIPTIONS, compressed('openapi'))),
  endpoint('GET /livez', 'getLiveness', by(PROBES, 'is fine as long as it answers')),
  endpoint('GET /readyz', 'getReadiness', by(PROBES, 'is ready while it serves and everything works'), {
    errors: [503],
  }),
  endpoint('GET /health', 'getHealth', by(PROBES, 'tells the version, the time since the start, and each check'), {
    errors: [503],
  }),
  endpoint('GET /metrics', 'getMetrics', by(PROBES, 'is text that Prometheus reads')),
]
