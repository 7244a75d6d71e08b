import { by, type RuleRow, rule } from './row.ts'

const VERSIONS = 'src/agents/agent-versions.db'
const TASKS = 'src/operators/callback-task-routes.db'
const GUARDS = 'src/platform/http/guards'
const INCOMING = 'src/calls/incoming-routes.db'
const PEOPLE = 'test/people.db'
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
    by('test/simulations-kept.db', 'can be cancelled while they run, and what was under way counts for nothing'),
  ),
  rule(
    'Publish with `require_simulation`: a draft that has passed none as it is now is 409',
    'simulations.md',
    by(
      'test/simulations-kept.db',
      'publishes a draft only when it has passed one, as it is now, and goes back without',
    ),
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
    by('src/calls/erasing/session-age.db', 'is bounded where the tenant says so, and only what is over goes'),
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
    '412 for a callback task that somebody else has edited meanwhile',
    'operators.md',
    by(
      'src/operators/callback-task-routes.db',
      'writes over what If-Match names, and not over what somebody else has written meanwhile',
    ),
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
    '412 for the publishing of a draft that somebody else has written meanwhile',
    'agents.md',
    by(
      'src/agents/agent-version-routes.db',
      'publishes what If-Match names, and not what somebody else has written meanwhile',
    ),
  ),
  rule(
    '422 for an Idempotency-Key with another body',
    'outbound-calls.md',
    by(MAKE_CALL, 'is refused with another body, not with the same one in another order'),
  ),
  rule(
    'Idempotency-Key of a campaign: asked for again, it is made once',
    'campaigns.md',
    by(
      'src/calls/campaigns/campaign-keys.db',
      'is made once, and is answered as it is now, with what was left out of its list',
    ),
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
    by('test/call-not-ended.db', 'is a 502 to the supervisor who ends it, whose action is kept'),
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
