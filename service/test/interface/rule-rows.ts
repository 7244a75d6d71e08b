import { by, type RuleRow, rule } from './row.ts'

const VERSIONS = 'src/agents/agent-versions.db'
const TASKS = 'src/operators/callback-task-routes.db'
const SESSION = 'test/admin-session.db'
const GUARDS = 'src/platform/http/guards'
const CREDENTIALS = 'src/tenancy/credentials.db'
const INCOMING = 'src/calls/incoming-routes.db'
const STREAM = 'src/voice/media-stream.db'
const TOKENS = 'src/voice/stream-token.db'
const PEOPLE = 'test/people.db'
const DELIVERER = 'src/delivery/deliverer.db'
const DELIVERIES = 'test/deliveries.db'
const ERRORS = 'src/platform/http/server'
const TENANTS = 'src/tenancy/tenant-routes.db'
const LIMITS = 'test/rate-limits.db'
const MAKE_CALL = 'test/make-call.db'
const SLA = 'src/operators/sweeps/sla-sweep.db'

/** What has states, and what leads from one to the next. */
export const STATE_ROWS: RuleRow[] = [
  rule(
    'API key: active → revoked, by DELETE',
    'admin.md',
    by('src/tenancy/api-key-routes.db', 'revokes the key, and answers the same when it is repeated'),
  ),
  rule(
    'Agent version: any → published, by publish',
    'agents.md',
    by(VERSIONS, 'takes the place of the version that was published'),
  ),
  rule(
    'Agent version: superseded → published again',
    'agents.md',
    by(VERSIONS, 'goes back to a version that was superseded'),
  ),
  rule(
    'Outbound call: make-call → `queued`, with its call_sid',
    'outbound-calls.md',
    by('src/calls/make-call-routes.db', 'places a call, and writes it down'),
  ),
  rule(
    'Call: `queued` … `completed`, in whatever order it is told',
    'outbound-calls.md',
    by('src/records/call-status', 'never takes a call back'),
  ),
  rule(
    'Access request: asked → `open`, answered with 202',
    'tenants.md',
    by('src/tenancy/access-request-routes.db', 'keeps a request for review, and counts it for its address'),
  ),
  rule(
    'Callback task: the moves of its life, anything else is 409',
    'operators.md',
    by(TASKS, 'complete leads from ["open","claimed"] to completed, and from nowhere else'),
  ),
  rule(
    'Callback task: one winner of those who claim at once',
    'operators.md',
    by(TASKS, 'let one of twenty claimers win'),
  ),
  rule(
    'Callback task: dispatching → what becomes of the call',
    'operators.md',
    by('test/task-dispatch.db', 'is tried again after calls in vain, until there were enough'),
  ),
  rule(
    'Rollout: replaced as a whole',
    'agents.md',
    by('src/agents/rollout-routes.db', 'are replaced as a whole, in the order in which they were sent'),
  ),
  rule(
    'Rollout policy: one at most for an agent',
    'agents.md',
    by('src/agents/rollout-routes.db', 'is null at first, then what was written'),
  ),
  rule(
    'Voice session: ended for a reason that is one of a list',
    'errors.md',
    by('src/calls/call-ended', 'is why it ended, and how quickly the agent spoke'),
  ),
  rule(
    'Simulation: queued → running → completed, or cancelled',
    'simulations.md',
    by('test/simulations.db', 'can be cancelled while they run, and what was under way counts for nothing'),
  ),
  rule(
    'Publish with `require_simulation`: a draft that has passed none as it is now is 409',
    'simulations.md',
    by('test/simulations.db', 'publishes a draft only when it has passed one, as it is now, and goes back without'),
  ),
  rule(
    'Simulation: what a killed process had begun is begun anew, and counts once',
    'simulations.md',
    by('test/simulation-killed.db', 'is run to its end by the next one, and counts once'),
  ),
  rule(
    'Campaign: draft → running ⇄ paused → cancelled',
    'campaigns.md',
    by('test/campaigns.db', 'is paused, goes on, and is cancelled'),
  ),
  rule(
    'Campaign: running → paused_by_breaker, by itself',
    'campaigns.md',
    by('test/campaigns.db', 'stops by itself when half of its calls fail, and goes on when it is told to'),
  ),
  rule(
    'Tenant with redact_pii: no card number, telephone number or e-mail address is kept of what is said',
    'redaction.md',
    by(
      'test/redacted-call.db',
      'leaves none of what was dictated, read back, typed, passed to tools and noted, wherever one looks',
    ),
  ),
  rule(
    'Voice session: erased when it is older than retention_days',
    'erasure.md',
    by('src/calls/erasing/erase-routes.db', 'is bounded where the tenant says so, and only what is over goes'),
  ),
]

/** Who may, and how that is shown. */
export const CREDENTIAL_ROWS: RuleRow[] = [
  rule(
    'Tenant: `Authorization: Bearer` with an API key',
    'admin.md',
    by(CREDENTIALS, 'knows the tenant of an API key'),
  ),
  rule('Tenant: a legacy raw bearer token', 'admin.md', by(CREDENTIALS, 'knows the tenant of a legacy token')),
  rule(
    '`LEGACY_TENANT_BEARER_AUTH_ENABLED=false` refuses those',
    'configuration.md',
    by(CREDENTIALS, 'refuses legacy tokens where they are turned off, and takes API keys'),
  ),
  rule(
    'A revoked key is refused on every node within a second',
    'admin.md',
    by(CREDENTIALS, 'refuses a key that another node revoked within a second'),
  ),
  rule('Administration: the `x-admin-key` header', 'admin.md', by(GUARDS, 'lets the right key in')),
  rule(
    'Without ADMIN_API_KEY and a login every admin address is 404',
    'admin.md',
    by(SESSION, 'without a name have no login, and without a key either no admin surface'),
  ),
  rule('Administration: the cookie of a login', 'admin.md', by(SESSION, 'opens the admin surface to the browser')),
  rule(
    'ADMIN_PASSWORD_SHA256 in place of ADMIN_PASSWORD',
    'admin.md',
    by(SESSION, 'take a SHA-256 in place of the password, behind https a cookie for https alone'),
  ),
  rule(
    "A change by cookie needs a page of the service's own",
    'admin.md',
    by(PEOPLE, 'needs a page of ours for changes on the runtime surface too'),
  ),
  rule(
    'Ten failed logins of an address in 15 minutes: 429',
    'admin.md',
    by(
      SESSION,
      'is refused after ten failures from the address, also when right, until a quarter of an hour has passed',
    ),
  ),
  rule(
    'Every route asks whoever it should ask, and no cell of routes and callers is open',
    'admin.md',
    by('test/isolation.db', 'gives every route to those it is for, and to nobody else'),
  ),
  rule('People of a tenant: viewer, operator, admin', 'admin.md', by(PEOPLE, 'lets a viewer read, and change nothing')),
  rule('What another tenant has is 404, never 403', 'errors.md', by(PEOPLE, 'is of one tenant: there is no other')),
  rule(
    'SSO: OpenID Connect with PKCE',
    'admin.md',
    by('test/sso.db', 'is an administrator when their e-mail is one of theirs'),
  ),
  rule(
    'Carrier: X-Provider-Signature over the exact public address and the form',
    'going-live.md',
    by(INCOMING, 'takes the neutral name of the signature, and the second token while tokens are being changed'),
  ),
  rule(
    'Carrier: checked before anything else is resolved',
    'going-live.md',
    by(INCOMING, "one for a number of a tenant's that another tenant signed, whatever account it names as its own"),
  ),
  rule('Media stream: `stream_token` in the query', 'architecture.md', by(STREAM, 'in its query')),
  rule('Media stream: the token in `start`, once', 'architecture.md', by(STREAM, 'in its start')),
  rule(
    'Media stream: a token ends two minutes after it was handed out',
    'configuration.md',
    by(STREAM, 'within two minutes of the document that holds it'),
  ),
  rule(
    'Media stream: one winner of a hundred with the same token',
    'architecture.md',
    by(TOKENS, 'let in one of a hundred that use the same one at once, over all nodes'),
  ),
  rule(
    'Media stream: bearer, for internal clients',
    'architecture.md',
    by(STREAM, 'names its agent, and is a call of its own'),
  ),
  rule(
    'Media stream: the first words wait for no model',
    'agents.md',
    by(
      'test/first-word.db',
      'is there before the model is, which is told what the caller hears, and does not say it again',
    ),
  ),
  rule(
    '`auth_token` narrows a sweep to its tenant',
    'operators.md',
    by(SLA, 'looks at one tenant alone when it is given its token'),
  ),
  rule(
    'A tenant key on an admin path is 401',
    'admin.md',
    by(PEOPLE, 'are unknown in another tenant, and nobody is known to a stranger'),
  ),
  rule(
    'Probes ask for nothing',
    'deployment.md',
    by(LIMITS, 'keep strangers to theirs, and no carrier, administrator, probe or tenant from anything'),
  ),
  rule(
    'An administrator acts for the tenant that `x-tenant-id` names, and nobody else does',
    'admin.md',
    by('test/acting-for.db', 'reads what is of the tenant that they name, by their session or by the key'),
  ),
  rule(
    'Secrets are written, never read',
    'tenants.md',
    by('src/tenancy/tenant-secrets', 'hides every one of them, and nothing else'),
  ),
  rule(
    'Secrets are sealed where they are kept',
    'tenants.md',
    by('src/tenancy/tenant-secrets', 'seals them all, and opens what it sealed, for any document'),
  ),
  rule(
    'No secret leaves, in an answer or a line of the log',
    'logs.md',
    by('test/canary.db', 'never leave: twenty are planted, and no answer and no log line holds one'),
  ),
  rule(
    'Addresses that tenants give lead to the public network or nowhere: 300 spellings and more',
    'webhooks.md',
    by(
      'src/platform/outbound/destination',
      'is refused in each of many spellings when it leads anywhere but to the public network',
    ),
  ),
  rule(
    'A name is looked up once, and what was checked is asked',
    'webhooks.md',
    by('src/platform/outbound/outbound', 'goes to the address that was checked, with the name that was asked for'),
  ),
  rule(
    'Outbound requests follow no redirect',
    'webhooks.md',
    by('src/platform/outbound/outbound', 'follows no redirect'),
  ),
]

/** What is told, and how. */
export const EVENT_ROWS: RuleRow[] = [
  rule(
    'The envelope: event, tenant_id, call_sid, voice_session_id, created_at, payload',
    'events.md',
    by('src/delivery/enqueue.db', 'writes the envelope with its members in their order, due at once'),
  ),
  rule(
    'Each event as it is documented; `voice.call.completed` with duration_seconds and status',
    'events.md',
    by(DELIVERIES, 'tells a tenant each event of a call as documented, signed and numbered, and billing what it cost'),
  ),
  rule(
    'An event without a call has empty ids',
    'events.md',
    by('src/delivery/enqueue.db', 'gives an event without a call empty ids and no number'),
  ),
  rule(
    'Signed as Standard Webhooks, to the byte',
    'webhooks.md',
    by(DELIVERER, 'is sent as soon as it is committed, signed, with its number, to the byte as it was written'),
  ),
  rule(
    'Written in the transaction that it reports',
    'webhooks.md',
    by(DELIVERER, 'of a transaction that is rolled back is never sent'),
  ),
  rule(
    'Numbered for each call from 1 without a gap',
    'webhooks.md',
    by('src/delivery/enqueue.db', 'numbers the events of each call from 1 without a gap, also when they come at once'),
  ),
  rule(
    'Tried again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h, then failed',
    'webhooks.md',
    by(
      DELIVERER,
      'is tried again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, with the same id and body, then no more',
    ),
  ),
  rule(
    'A target that answers 410 is sent nothing more',
    'webhooks.md',
    by(DELIVERER, 'that answers 410 is sent nothing more'),
  ),
  rule(
    'A target that answers 429 is left alone for as long as it asks',
    'webhooks.md',
    by(DELIVERER, 'that answers 429 is left alone for as long as it asks'),
  ),
  rule(
    'A target that hangs is given up after 10 s',
    'webhooks.md',
    by(DELIVERER, 'that is silent is given up after 10 s and tried again'),
  ),
  rule(
    'A target that drips has taken it',
    'webhooks.md',
    by(DELIVERER, 'that has taken it and drips from then on has it, and is left after 10 s'),
  ),
  rule(
    'A target that resets is tried again',
    'webhooks.md',
    by(DELIVERER, 'that resets the connection is tried again'),
  ),
  rule('A target that redirects is not followed', 'webhooks.md', by(DELIVERER, 'that redirects is tried again')),
  rule(
    'A process that is killed between commit and delivery loses none',
    'webhooks.md',
    by(
      'test/delivery-killed.db',
      'has what it was sending, and what it had just written down, delivered after the next start as it was',
    ),
  ),
  rule(
    'Sweeps enqueue webhooks when `emit_webhooks` is true, and count them',
    'operators.md',
    by(SLA, 'tells webhooks only when it is asked to'),
  ),
  rule(
    'A tenant that hangs holds up no other',
    'webhooks.md',
    by(DELIVERER, 'whose targets hang hold up no other one, and get one attempt at a time from then on'),
  ),
  rule(
    'Lists of numbers, and what is sent again, let other events of their tenant go first',
    'webhooks.md',
    by(DELIVERER, 'as a list of numbers lets other events of the tenant go first'),
  ),
  rule(
    '`voice.evaluation.completed` is sent',
    'events.md',
    by(
      'src/records/evaluations/evaluation-routes.db',
      "records a person's score, which the session shows, and tells the tenant",
    ),
  ),
  rule(
    '`voice.session.completed` waits for the `extraction` that its agent version asks for',
    'evaluations.md',
    by('src/records/evaluations/after-call.db', 'has it with its end, which is told then, with the summary'),
  ),
  rule(
    '`rollout.rolled_back` is sent',
    'events.md',
    by(
      'src/agents/rollout-governance-routes.db',
      'takes its share with apply: the others keep theirs and close up, and it is audited and told',
    ),
  ),
  rule(
    '`campaign.started`, `campaign.completed` are sent',
    'events.md',
    by('test/campaigns.db', 'calls everybody, notes what came of it, and is over then'),
  ),
]

/** What is refused, and how. */
export const ERROR_ROWS: RuleRow[] = [
  rule('One shape: ok, error, code, request_id', 'errors.md', by(ERRORS, 'has the same shape: an unknown address')),
  rule(
    'Any request to any address: never a 5xx of ours, the shape always',
    'errors.md',
    by('test/corpus.db', 'are answered in time, in the shape of every answer, and never by a fault of ours'),
  ),
  rule(
    '400 for what is not as it should be, with the place',
    'errors.md',
    by('src/platform/http/validation', 'has every unknown field named'),
  ),
  rule(
    '400 for a number that is none',
    'errors.md',
    by('src/operators/callback-task-routes.db', 'refuses what is at fault, and names it'),
  ),
  rule(
    '400 for a call without a number to come from',
    'outbound-calls.md',
    by('src/calls/make-call-routes.db', 'refuses a call that has no number to come from'),
  ),
  rule('401 for a wrong credential', 'errors.md', by(GUARDS, 'refuses the token pk_other')),
  rule('401 for a wrong signature of a carrier', 'errors.md', by(INCOMING, 'one that was changed on its way')),
  rule('403 for a role that may not', 'admin.md', by(PEOPLE, 'lets a viewer read, and change nothing')),
  rule('404 for what is not there', 'errors.md', by(TASKS, "find no other tenant's task, and none that is not there")),
  rule('409 for a second claim', 'operators.md', by(TASKS, 'let one of twenty claimers win')),
  rule(
    '409 for a stale rollout',
    'agents.md',
    by('src/agents/rollout-routes.db', 'are written only over those of If-Match: a stale one is a conflict'),
  ),
  rule(
    '409 for a number or token that another tenant has',
    'tenants.md',
    by(TENANTS, 'refuses a number that another tenant has, and leaves the other one as it is'),
  ),
  rule(
    '412 for If-Match that does not hold',
    'tenants.md',
    by(TENANTS, 'over a stored document: If-Match with another tag'),
  ),
  rule(
    '412 for a draft that somebody else has written meanwhile',
    'agents.md',
    by(
      'src/agents/agent-version-routes.db',
      'writes over what If-Match names, and not over what somebody else has written meanwhile',
    ),
  ),
  rule(
    '422 for an Idempotency-Key with another body',
    'outbound-calls.md',
    by(MAKE_CALL, 'is refused with another body, not with the same one in another order'),
  ),
  rule(
    '429 with Retry-After beyond a limit',
    'errors.md',
    by(
      'src/platform/http/rate-limits',
      "are as many in a minute as the tenant's limit, whatever address they come from",
    ),
  ),
  rule(
    '500 tells nothing of its cause',
    'errors.md',
    by(ERRORS, 'from 500 on tells nothing of its cause, and logs it once'),
  ),
  rule(
    '502 when a provider fails',
    'errors.md',
    by('test/chat.db', 'says 502 when the model says nothing for half a minute'),
  ),
  rule(
    '503 where a database is needed and none is configured',
    'deployment.md',
    by('test/no-database', 'everything else is refused with a sentence that says what to set, at its old address too'),
  ),
  rule(
    '503 for the intake while the database is away',
    'errors.md',
    by('src/tenancy/access-request-routes.db', 'says 503 while the database is away'),
  ),
  rule(
    'A call in doubt is 503 `submission_unknown`, and never placed twice',
    'outbound-calls.md',
    by(MAKE_CALL, 'is found at the carrier within half a minute, and what the request asked for is known'),
  ),
]

/** How much there may be. */
export const LIMIT_ROWS: RuleRow[] = [
  rule(
    'Requests of an address, 60 in a minute unless it is set otherwise',
    'configuration.md',
    by(LIMITS, 'keep strangers to theirs, and no carrier, administrator, probe or tenant from anything'),
  ),
  rule(
    'Requests of a tenant, 1,000 in a minute unless it is set otherwise',
    'configuration.md',
    by(LIMITS, "keep a tenant to the setting, or to its own document's"),
  ),
  rule(
    '`limit` of a list: 0 to 500, else 400',
    'errors.md',
    by('src/agents/agent-routes.db', 'takes a limit of 0 and refuses one above 500'),
  ),
  rule(
    '`limit` of a list: 50 unless it is said',
    'errors.md',
    by('src/kernel/pages', 'start at the beginning with 50 rows when nothing is asked'),
  ),
  rule(
    '`limit` of a sweep caps what it does',
    'operators.md',
    by(SLA, 'does as much as the limit allows, an equal share for each tenant'),
  ),
  rule(
    '`limit` of the billing sweep caps what it claims, 10,000 at most',
    'webhooks.md',
    by(DELIVERIES, 'delivers billing outcomes that are due when it is told to'),
  ),
  rule('A body: 256 KiB', 'errors.md', by(ERRORS, 'of 256 KiB is taken')),
  rule(
    'A message of a WebSocket: 64 KiB',
    'errors.md',
    by('src/platform/http/web-sockets', 'end a peer that sends a message over 64 KiB, in one piece or in many'),
  ),
  rule(
    'Calls of a tenant at a time',
    'dial-gate.md',
    by('src/calls/make-call-routes.db', 'does not pass more calls than the tenant may have at a time, also at once'),
  ),
  rule(
    'The cost of a call: told at 80 %, the call ended at 100 %',
    'costs.md',
    by(
      'src/voice/session/spending',
      'is told to the model once at four fifths, and ends the call with a goodbye when it is spent',
    ),
  ),
  rule(
    'The cost of a day: no further call is placed',
    'costs.md',
    by('src/calls/dial-gate.db', 'refuses when the budget of the day is used up'),
  ),
]

/** How it changes. */
export const VERSION_ROWS: RuleRow[] = [
  rule(
    'The stable version stands below `/api/v1/`, old addresses without it go on and say so',
    'errors.md',
    by('src/platform/http/old-paths', 'says that it is one, and which address to use'),
  ),
  rule(
    'The old address of a call that comes in',
    'errors.md',
    by(INCOMING, 'at the old address too, which says where the new one is'),
  ),
  rule(
    'The old address of the intake',
    'errors.md',
    by('src/tenancy/access-request-routes.db', 'is there at the old address too'),
  ),
  rule('`/logs` is the WebSocket, and no old address', 'logs.md', by('test/logs.db', 'has no old address')),
  rule(
    'The description has version 0.1.0, and is valid OpenAPI 3.1',
    'architecture.md',
    by('test/api-docs.db', 'are valid OpenAPI 3.1, by the word of somebody else: openapi'),
  ),
  rule(
    'Three descriptions, together every route that there is',
    'architecture.md',
    by('test/api-docs.db', 'have every route of the router, and no other: all in one, each in its own'),
  ),
  rule(
    'Agent versions are numbered for each agent',
    'agents.md',
    by(VERSIONS, 'are numbered from 1 for each agent, without a gap or a repeat, also when they are made at once'),
  ),
  rule(
    'A call speaks by an exact version where one is named',
    'agents.md',
    by('src/calls/make-call-routes.db', 'speaks as an exact version, drafts too'),
  ),
  rule(
    'A call speaks by the published version where a key is named',
    'agents.md',
    by('src/agents/resolve.db', 'speaks by its published version, with every default applied'),
  ),
]
