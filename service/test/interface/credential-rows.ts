import { by, type RuleRow, rule } from './row.ts'

const SESSION = 'test/admin-session.db'
const GUARDS = 'src/platform/http/guards'
const CREDENTIALS = 'src/tenancy/credentials.db'
const INCOMING = 'src/calls/incoming-routes.db'
const STREAM = 'src/voice/media-stream.db'
const TOKENS = 'src/voice/stream-token.db'
const PEOPLE = 'test/people.db'
const LIMITS = 'test/rate-limits.db'
const SLA = 'src/operators/sweeps/sla-sweep.db'

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
  rule('Media stream: `stream_token` in the query', 'browser-calls.md', by(STREAM, 'in its query')),
  rule('Media stream: the token in `start`, once', 'browser-calls.md', by(STREAM, 'in its start')),
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
    'browser-calls.md',
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
    by('test/canary.db', 'never leave: twenty-one are planted, and no answer and no log line holds one'),
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
