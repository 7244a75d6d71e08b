import { by, type EndpointRow, endpoint } from './row.ts'

const SESSION = 'test/admin-session.db'
const TENANTS = 'src/tenancy/tenant-routes.db'
const RUNTIME_CONFIG = 'src/tenancy/runtime-config-routes.db'
const CACHE = 'src/tenancy/tenant-cache-routes.db'
const KEYS = 'src/tenancy/api-key-routes.db'
const AGENTS = 'src/agents/agent-routes.db'
const VERSIONS = 'src/agents/agent-version-routes.db'
const ROLLOUTS = 'src/agents/rollout-routes.db'
const ANALYTICS = 'src/records/analytics/analytics-routes.db'
const GOVERNANCE = 'src/agents/rollout-governance-routes.db'
const PROMPTS = 'src/agents/prompt-routes.db'
const INTAKE = 'src/tenancy/access-request-routes.db'
const ROUTES = 'src/calls/phone-route-routes.db'
const QUEUES = 'src/operators/operator-queue-routes.db'
const DELIVERIES = 'src/delivery/delivery-routes.db'
const OUTBOXES = 'test/deliveries.db'
const OPERATOR_OUTBOXES = 'src/delivery/operator-outboxes.db'
const PEOPLE = 'test/people.db'
const SINGLE_SIGN_ON = 'test/sso.db'

const ADMIN = '/api/v1/admin'
const TENANT = `${ADMIN}/tenants/:tenant_id`

/** Refusals of every address of the administration. */
const USUAL = [401, 403, 404]

/** Where those who administer come in, and what tells of the installation. */
export const ADMIN_SESSION_ROWS: EndpointRow[] = [
  endpoint(`POST ${ADMIN}/auth/login`, 'logIn', by(SESSION, 'opens the admin surface to the browser'), {
    answers: 'ok username',
    errors: [400, 401, 404, 429],
  }),
  endpoint(`POST ${ADMIN}/auth/logout`, 'logOut', by(SESSION, 'is over at logout, wherever the cookie still is'), {
    answers: 'ok authenticated login_enabled username sso_authorize_url sso_enabled',
  }),
  endpoint(`GET ${ADMIN}/auth/session`, 'getAdminSession', by(SESSION, 'knows the holder of the key'), {
    answers: 'ok authenticated login_enabled username sso_authorize_url sso_enabled',
  }),
  endpoint(`POST ${ADMIN}/auth/invitation`, 'acceptInvitation', by(PEOPLE, 'are invited by a link that is good once'), {
    errors: [400, 404],
  }),
  endpoint(
    `GET ${ADMIN}/auth/sso/start`,
    'beginSso',
    by(SINGLE_SIGN_ON, 'is an administrator when their e-mail is one of theirs'),
    { errors: [404, 502] },
  ),
  endpoint(
    `GET ${ADMIN}/auth/sso/callback`,
    'finishSso',
    by(SINGLE_SIGN_ON, 'is an administrator when their e-mail is one of theirs'),
    { errors: [401, 403, 404, 502] },
  ),
  endpoint(`GET ${ADMIN}/auth/transport`, 'getAuthTransport', by(SESSION, 'is told to administrators alone'), {
    answers: 'auth_transport ok',
    errors: [401, 404],
  }),
  endpoint(
    `GET ${ADMIN}/alerts/auth-transport`,
    'listAuthTransportAlerts',
    by(SESSION, 'is told to administrators alone'),
    { answers: 'alerts count diagnostics ok status', errors: [401, 404] },
  ),
  endpoint(
    `GET ${ADMIN}/api-access-requests`,
    'listAccessRequests',
    by(INTAKE, 'pages, newest first, and refuses an unknown status'),
    { answers: 'count ok requests', errors: [...USUAL, 503] },
  ),
  endpoint(
    `PATCH ${ADMIN}/api-access-requests/:id`,
    'reviewAccessRequest',
    by(INTAKE, 'notes what was made of a request, and takes that back'),
    { answers: 'ok request', errors: [...USUAL, 400] },
  ),
  endpoint(
    `GET ${ADMIN}/sessions`,
    'listActiveSessions',
    by('test/supervisor-actions.db', 'are shown to administrators, newest first'),
    { answers: 'count ok sessions', errors: USUAL },
  ),
  endpoint(
    `GET ${ADMIN}/supervisor-actions`,
    'listSupervisorActions',
    by('test/supervisor-actions.db', 'is kept, and found by tenant, call and kind'),
    { answers: 'actions count ok', errors: [...USUAL, 503] },
  ),
  endpoint(
    `GET ${ADMIN}/callback-tasks`,
    'listAllCallbackTasks',
    by(QUEUES, 'lists the tasks of all tenants, newest first, or of one'),
    { answers: 'count ok tasks', errors: [...USUAL, 503] },
  ),
  endpoint(
    `GET ${ADMIN}/outboxes/depth`,
    'getOutboxDepth',
    by(OUTBOXES, 'shows the outboxes to nobody but an administrator'),
    { answers: 'count depths ok', errors: [...USUAL, 503] },
  ),
  endpoint(
    `POST ${ADMIN}/outboxes/billing-outcomes/sweep`,
    'sweepBillingOutcomes',
    by(OUTBOXES, 'delivers billing outcomes that are due when it is told to'),
    { answers: 'attempted delivered failed rescheduled ok', errors: [401, 503] },
  ),
  endpoint(
    `GET ${ADMIN}/outboxes/:outbox/deliveries`,
    'listOutboxDeliveries',
    by(OPERATOR_OUTBOXES, 'show what billing was not told, of all tenants, newest first and masked'),
    { answers: 'count outbox_deliveries next_cursor ok', errors: [...USUAL, 503] },
  ),
  endpoint(
    `POST ${ADMIN}/outboxes/:outbox/deliveries`,
    'redeliverOutbox',
    by(OPERATOR_OUTBOXES, 'make what was given up due again, and say who did it'),
    { answers: 'ok requeued', errors: [...USUAL, 503] },
  ),
  endpoint(
    `GET ${ADMIN}/audit-log`,
    'listAuditLog',
    by('test/audit-log.db', 'has every change of the administration, as it was before and after'),
    { answers: 'ok count entries next_cursor', errors: USUAL },
  ),
]

/** What is done for queues when its time has come. */
export const SWEEP_ROWS: EndpointRow[] = [
  endpoint(
    `GET ${ADMIN}/operator-queues/breaches`,
    'listLateOperatorQueues',
    by(QUEUES, 'lists the queues of all tenants in which tasks are late, those with the most of them first'),
    { answers: 'count next_cursor ok queues', errors: [...USUAL, 400] },
  ),
  endpoint(
    `POST ${ADMIN}/operator-queues/dispatch`,
    'dispatchOperatorQueues',
    by('test/sweeps.db', 'has agents call for the open tasks of the queues that are set to, when they are due'),
    { answers: 'ok result', errors: [401, 404, 503] },
  ),
  endpoint(
    `POST ${ADMIN}/operator-queues/external-reconciliation/sweep`,
    'reconcileTickets',
    by('src/operators/sweeps/ticket-sweep.db', 'completes a task whose ticket was closed'),
    { answers: 'ok result', errors: [401, 404, 503] },
  ),
  endpoint(
    `POST ${ADMIN}/operator-queues/follow-up-notifications/sweep`,
    'sweepFollowUps',
    by('src/operators/sweeps/follow-up-sweep.db', 'opens tasks whose snooze is over'),
    { answers: 'ok result', errors: [401, 404, 503] },
  ),
  endpoint(
    `POST ${ADMIN}/operator-queues/sweep`,
    'sweepOperatorQueues',
    by('src/operators/sweeps/sla-sweep.db', 'alerts once for each time by which a task was to be done'),
    { answers: 'ok result', errors: [401, 404, 503] },
  ),
]

/** Tenants, and what each node remembers of them. */
export const TENANT_ROWS: EndpointRow[] = [
  endpoint(`GET ${ADMIN}/tenants`, 'listTenants', by(TENANTS, 'lists tenants newest first, page by page'), {
    answers: 'count ok tenants',
    errors: [...USUAL, 500],
  }),
  endpoint(
    `GET ${ADMIN}/tenants/audio-providers`,
    'getAudioProviders',
    by(CACHE, 'counts what cached tenants ask for and what their calls would get'),
    {
      answers:
        'cached_tenants configured_secondary configured_primary count effective_secondary effective_primary ' +
        'evaluated_tenants fallback_active fallback_not_configured fallback_unavailable include_uncached_requested ' +
        'items ok uncached_scan_supported uncached_tenants',
      errors: USUAL,
    },
  ),
  endpoint(
    `GET ${ADMIN}/tenants/cache-metrics`,
    'getTenantCacheMetrics',
    by(CACHE, 'counts hits, misses and what is there'),
    { answers: 'auth_transport cache_entries evictions hits misses ok reloads', errors: USUAL },
  ),
  endpoint(
    `GET ${ADMIN}/tenants/cache-metrics/by-token`,
    'getCredentialCacheMetrics',
    by(CACHE, 'counts nothing that is no credential, and takes a limit of 0'),
    { answers: 'count items ok', errors: USUAL },
  ),
  endpoint(`GET ${ADMIN}/tenants/cached`, 'listCachedTenants', by(CACHE, 'shows what is in memory, used last first'), {
    answers: 'count ok tenants',
    errors: USUAL,
  }),
  endpoint(
    `POST ${ADMIN}/tenants/evict-idle`,
    'evictIdleTenants',
    by(CACHE, 'forgets those that were not used for longer'),
    { answers: 'evicted ok remaining', errors: USUAL },
  ),
  endpoint(
    `POST ${ADMIN}/tenants/reload-cached`,
    'reloadCachedTenants',
    by(CACHE, 'reads all of them again at once, and tells those that are gone or cannot be read'),
    { answers: 'attempted failures ok reloaded', errors: USUAL },
  ),
  endpoint(
    `POST ${ADMIN}/tenants/validate`,
    'validateTenant',
    by(RUNTIME_CONFIG, 'says what would run, with every default and no secret'),
    { answers: 'ok error runtime', errors: [...USUAL, 400] },
  ),
  endpoint(
    `GET ${TENANT}`,
    'getTenant',
    by(TENANTS, 'answers the document and its ETag, in the body and as a header'),
    {
      answers: 'config etag ok tenant_id',
      errors: [...USUAL, 500],
    },
  ),
  endpoint(`PUT ${TENANT}`, 'putTenant', by(TENANTS, 'creates, and answers with the ETag of what was stored'), {
    answers: 'ok tenant_id',
    errors: [...USUAL, 400, 409, 412, 500],
  }),
  endpoint(`DELETE ${TENANT}`, 'deleteTenant', by(TENANTS, 'deletes that tenant and no other'), {
    answers: 'ok tenant_id',
    errors: [...USUAL, 409, 412, 500],
  }),
  endpoint(
    `GET ${TENANT}/runtime-config`,
    'getRuntimeConfig',
    by(RUNTIME_CONFIG, 'is empty for a document that sets nothing of it, and has its ETag'),
    { answers: 'ok tenant_id runtime_config etag', errors: USUAL },
  ),
  endpoint(
    `PUT ${TENANT}/runtime-config`,
    'putRuntimeConfig',
    by(RUNTIME_CONFIG, 'is merged into the document, member by member'),
    { answers: 'ok tenant_id runtime_config etag', errors: [...USUAL, 400, 409, 412] },
  ),
  endpoint(
    `GET ${TENANT}/users`,
    'listUsers',
    by(PEOPLE, 'are added, shown without their password, and log in at the same place'),
    {
      answers: 'ok count users',
      errors: USUAL,
    },
  ),
  endpoint(
    `POST ${TENANT}/users`,
    'createUser',
    by(PEOPLE, 'are added, shown without their password, and log in at the same place'),
    { answers: 'ok user invitation_url', errors: [...USUAL, 400, 409] },
  ),
  endpoint(
    `PATCH ${TENANT}/users/:user_id`,
    'changeUser',
    by(PEOPLE, 'are changed at once, and logged out by a new password or invitation'),
    { answers: 'ok user invitation_url', errors: [...USUAL, 400, 409] },
  ),
  endpoint(`DELETE ${TENANT}/users/:user_id`, 'deleteUser', by(PEOPLE, 'are deleted with their sessions'), {
    answers: 'ok user',
    errors: USUAL,
  }),
  endpoint(
    `GET ${TENANT}/api-keys`,
    'listApiKeys',
    by(KEYS, "lists the tenant's keys without their secrets, revoked ones too"),
    { answers: 'api_keys count ok', errors: [...USUAL, 500] },
  ),
  endpoint(`POST ${TENANT}/api-keys`, 'createApiKey', by(KEYS, 'answers the key and, this once, its token'), {
    answers: 'created ok',
    errors: [...USUAL, 500],
  }),
  endpoint(
    `DELETE ${TENANT}/api-keys/:key_id`,
    'revokeApiKey',
    by(KEYS, 'revokes the key, and answers the same when it is repeated'),
    { answers: 'api_key ok', errors: [...USUAL, 500] },
  ),
]

/** Who speaks, at which number, and by which version. */
export const AGENT_ROWS: EndpointRow[] = [
  endpoint(`GET ${TENANT}/agents`, 'listAgents', by(AGENTS, "lists the tenant's own agents"), {
    answers: 'agents count ok',
    errors: USUAL,
  }),
  endpoint(`POST ${TENANT}/agents`, 'createAgent', by(AGENTS, 'answers the agent'), {
    answers: 'agent ok',
    errors: [...USUAL, 400],
  }),
  endpoint(`PATCH ${TENANT}/agents/:agent_id`, 'changeAgent', by(AGENTS, 'changes what is given, and nothing else'), {
    answers: 'agent ok',
    errors: [...USUAL, 400],
  }),
  endpoint(
    `GET ${TENANT}/agent-versions`,
    'listAgentVersions',
    by(VERSIONS, "lists the tenant's versions, of one agent if asked"),
    { answers: 'count ok versions', errors: USUAL },
  ),
  endpoint(`POST ${TENANT}/agent-versions`, 'createAgentVersion', by(VERSIONS, 'answers the draft'), {
    answers: 'ok version',
    errors: [...USUAL, 400],
  }),
  endpoint(
    `PATCH ${TENANT}/agent-versions/:version_id`,
    'replaceAgentVersionConfig',
    by(VERSIONS, 'replaces the config of a draft'),
    { answers: 'ok version', errors: [...USUAL, 400, 409] },
  ),
  endpoint(
    `POST ${TENANT}/agent-versions/:version_id/publish`,
    'publishAgentVersion',
    by(VERSIONS, 'answers the published version, and the same when repeated'),
    { answers: 'ok version', errors: USUAL },
  ),
  endpoint(
    `POST ${TENANT}/agents/:agent_id/rollout-governance/evaluate`,
    'evaluateRollout',
    by(GOVERNANCE, 'says what it would do with a version that does badly, and does nothing'),
    { answers: 'evaluation ok', errors: [...USUAL, 503] },
  ),
  endpoint(
    `GET ${TENANT}/agents/:agent_id/rollout-policy`,
    'getRolloutPolicy',
    by(ROLLOUTS, 'is null at first, then what was written'),
    { answers: 'ok policy', errors: USUAL },
  ),
  endpoint(
    `PUT ${TENANT}/agents/:agent_id/rollout-policy`,
    'putRolloutPolicy',
    by(ROLLOUTS, 'is null at first, then what was written'),
    { answers: 'ok policy', errors: [...USUAL, 400] },
  ),
  endpoint(`GET ${TENANT}/agents/:agent_id/rollouts`, 'getRollouts', by(ROLLOUTS, 'are empty at first, with an ETag'), {
    answers: 'count ok rollouts',
    errors: USUAL,
  }),
  endpoint(
    `PUT ${TENANT}/agents/:agent_id/rollouts`,
    'putRollouts',
    by(ROLLOUTS, 'are replaced as a whole, in the order in which they were sent'),
    { answers: 'count ok rollouts', errors: [...USUAL, 400, 409] },
  ),
  endpoint(
    `POST ${ADMIN}/rollout-governance/sweep`,
    'sweepRollouts',
    by(GOVERNANCE, 'tells what it would do with each agent that has a policy'),
    { answers: 'ok result', errors: [...USUAL, 503] },
  ),
  endpoint(
    `GET ${ADMIN}/analytics/calls`,
    'getCallAnalyticsOfTenants',
    by(ANALYTICS, 'are told for all tenants together, and by tenant'),
    { answers: 'analytics ok', errors: [...USUAL, 400, 503] },
  ),
  endpoint(
    `POST ${ADMIN}/analytics/sweep`,
    'sweepCallAnalytics',
    by(ANALYTICS, 'are counted by a sweep, as many hours as it is told'),
    { answers: 'ok result', errors: [...USUAL, 400, 503] },
  ),
  endpoint(`GET ${TENANT}/phone-routes`, 'listPhoneRoutes', by(ROUTES, "lists the tenant's own routes"), {
    answers: 'ok count phone_routes',
    errors: USUAL,
  }),
  endpoint(`POST ${TENANT}/phone-routes`, 'createPhoneRoute', by(ROUTES, 'answers the route with its defaults'), {
    answers: 'ok phone_route',
    errors: [...USUAL, 400, 409],
  }),
  endpoint(
    `PUT ${TENANT}/phone-routes/:route_id`,
    'replacePhoneRoute',
    by(ROUTES, 'replaces the route: what is left out has its default again'),
    { answers: 'ok phone_route', errors: [...USUAL, 400, 409] },
  ),
  endpoint(`DELETE ${TENANT}/phone-routes/:route_id`, 'deletePhoneRoute', by(ROUTES, 'answers what it deleted'), {
    answers: 'ok phone_route',
    errors: USUAL,
  }),
  endpoint(`GET ${ADMIN}/prompts`, 'listPrompts', by(PROMPTS, 'are created, read, replaced, listed and deleted'), {
    answers: 'ok count prompts',
    errors: USUAL,
  }),
  endpoint(`GET ${ADMIN}/prompts/:key`, 'getPrompt', by(PROMPTS, 'are created, read, replaced, listed and deleted'), {
    answers: 'ok prompt',
    errors: USUAL,
  }),
  endpoint(`PUT ${ADMIN}/prompts/:key`, 'putPrompt', by(PROMPTS, 'are created, read, replaced, listed and deleted'), {
    answers: 'ok prompt',
    errors: [...USUAL, 400, 412],
  }),
  endpoint(
    `DELETE ${ADMIN}/prompts/:key`,
    'deletePrompt',
    by(PROMPTS, 'are created, read, replaced, listed and deleted'),
    { answers: 'ok prompt', errors: [...USUAL, 412] },
  ),
]

/** What operators of an installation look after for a tenant. */
export const TENANT_OPERATION_ROWS: EndpointRow[] = [
  endpoint(
    `GET ${TENANT}/operator-queues/:queue_key`,
    'getOperatorQueue',
    by(QUEUES, 'are the defaults until they are set, and after they are deleted'),
    { answers: 'ok queue', errors: USUAL },
  ),
  endpoint(
    `PUT ${TENANT}/operator-queues/:queue_key`,
    'putOperatorQueue',
    by(QUEUES, 'are the defaults until they are set, and after they are deleted'),
    { answers: 'ok queue', errors: [...USUAL, 400] },
  ),
  endpoint(
    `DELETE ${TENANT}/operator-queues/:queue_key`,
    'deleteOperatorQueue',
    by(QUEUES, 'are the defaults until they are set, and after they are deleted'),
    { answers: 'ok queue', errors: USUAL },
  ),
  endpoint(
    `GET ${TENANT}/webhook-deliveries`,
    'listTenantWebhookDeliveries',
    by(DELIVERIES, 'shows them with what could tell who somebody is masked'),
    { answers: 'ok count deliveries', errors: USUAL },
  ),
  endpoint(`POST ${TENANT}/webhook-deliveries`, 'redeliverTenantWebhooks', by(DELIVERIES, 'sends them again'), {
    answers: 'ok requeued',
    errors: [...USUAL, 400],
  }),
]
