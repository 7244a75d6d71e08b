import { type Static, type TSchema, Type } from 'typebox'
import type { TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import {
  COUNTRY_PATTERN,
  forPeople,
  KEY_PATTERN,
  NUMBER_PREFIX_PATTERN,
  nullable,
  strict,
} from '../platform/http/schemas.ts'
import { TELEPHONY_PROVIDERS } from '../platform/telephony/registry.ts'
import { TICKETING_DRIVER_NAMES } from '../platform/ticketing/registry.ts'
import { AgentVersionConfig } from './agent-config.ts'
import { EVENT_NAMES } from './tenant-events.ts'
import { TenantTool } from './tenant-tools.ts'
import { CallableNumber, HttpUrl, Label, MISSED_CALL_KINDS, QueueKey, TimeOfDay, WriteOnly } from './tenant-values.ts'

/** A member that may be left out, or be null to say the same. */
function maybe<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(nullable(schema))
}

function count(maximum: number, description: string) {
  return Type.Integer({ minimum: 1, maximum, description })
}

function called(description: string) {
  return Type.Unsafe<PhoneNumber>({ ...CallableNumber, description })
}

function isSo(description: string) {
  return Type.Optional(Type.Boolean({ description }))
}

/** The carrier account of a tenant, as its document has it. */
export const Telephony = strict({
  provider: Type.Optional(Type.Enum(TELEPHONY_PROVIDERS, { description: 'The carrier. Default twilio.' })),
  account_sid: maybe(
    Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', description: "The tenant's account at the carrier." }),
  ),
  auth_token: maybe(WriteOnly(200, "The account's auth token: signs callbacks and opens its REST API.")),
  auth_token_secondary: maybe(WriteOnly(200, 'The second auth token, while tokens are being rotated.')),
  from_number: maybe(called('Where placed calls come from without a phone route that is the outbound default.')),
  fallback_number: maybe(called('Who is rung when a call cannot be taken, or gone on with. Default: nobody.')),
})

/** Whose voice speaks, as a document has it. */
export const AudioOutput = strict({
  provider: Type.Optional(Type.Enum(['primary', 'secondary'], { description: 'Default primary: the model speaks.' })),
  voice_id: maybe(Label("The secondary provider's voice.")),
  model_id: maybe(Label("The secondary provider's model.")),
})

const Webhook = strict({
  url: HttpUrl,
  secret: maybe(WriteOnly(200, 'Signs what is sent: whsec_ and 24 to 64 bytes in base64, or 16 to 200 characters.')),
  secret_previous: maybe(WriteOnly(200, 'Signs too, while secrets are being rotated.')),
  events: maybe(
    Type.Array(Type.Enum(EVENT_NAMES), {
      minItems: 1,
      maxItems: EVENT_NAMES.length,
      uniqueItems: true,
      description: 'What to send. Default: everything but voice.transcript.turn.',
    }),
  ),
  disabled: Type.Optional(
    Type.Boolean({
      readOnly: true,
      description: 'Set when the address answered 410. What is sent here is ignored; another url, or none, clears it.',
    }),
  ),
})

const InboundDecision = strict({
  url: HttpUrl,
  timeout_ms: Type.Optional(
    Type.Integer({ minimum: 200, maximum: 5_000, description: 'How long its answer is waited for. Default 2,000.' }),
  ),
})

const Limits = strict({
  max_concurrent_calls: maybe(count(10_000, 'Calls at once: in, out and from pages. Default: no cap of its own.')),
  requests_per_minute: maybe(count(1_000_000, 'Requests with its credentials. Default: RATE_LIMIT_TENANT_PER_MINUTE.')),
  max_call_seconds: Type.Optional(
    Type.Integer({ minimum: 10, maximum: 14_400, description: 'How long agents may be in a call. Default 1,800.' }),
  ),
  idle_seconds: Type.Optional(
    Type.Integer({ minimum: 3, maximum: 600, description: 'The silence of a caller that ends a call. Default 30.' }),
  ),
  minutes_per_day: maybe(
    Type.Integer({ minimum: 0, maximum: 10_000_000, description: 'Carrier minutes of a UTC day. Default: no cap.' }),
  ),
  budget_per_call: maybe(
    Type.Number({ minimum: 0, maximum: 1e9, description: 'What a call may cost, in USD. Default: no cap.' }),
  ),
  budget_per_day: maybe(
    Type.Number({
      minimum: 0,
      maximum: 1e9,
      description: 'What calls of a UTC day may cost, in USD. Default: no cap.',
    }),
  ),
})

const Compliance = strict({
  timezone: maybe(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'An IANA time zone, such as Europe/Berlin, by which agents are told what time it is. Default UTC.',
    }),
  ),
  calling_hours: maybe(strict({ start: TimeOfDay, end: TimeOfDay })),
  max_attempts_per_day: maybe(count(1_000, "Calls to one number in the callee's day. Default: no cap.")),
  allowed_countries: maybe(
    Type.Array(Type.String({ pattern: COUNTRY_PATTERN }), {
      maxItems: 300,
      uniqueItems: true,
      description: 'Where calls may go, as ISO 3166 alpha-2 codes. Default: everywhere; empty: nowhere.',
    }),
  ),
  require_consent: isSo('Calls go out only with `metadata.consent` true. Default false.'),
  record_calls: isSo('Calls are recorded. Default false.'),
  record_beep: isSo('Callers who are recorded hear a beep first. Default false.'),
  redact_pii: isSo(
    'What is said is kept without card, telephone and other long numbers, and e-mail addresses. Default false.',
  ),
  retention_days: maybe(count(3_650, 'Days after which what was said is erased. Default: it is kept.')),
  ai_disclosure: maybe(forPeople(2_000, 'Said before the greeting, in exactly these words. Default: nothing.')),
})

const Ticketing = strict({
  driver: Type.Enum(TICKETING_DRIVER_NAMES, { description: 'Whose protocol the ticket system speaks.' }),
  base_url: HttpUrl,
  token: maybe(WriteOnly(4_000, 'The bearer token, or email/token:api_token for Basic.')),
})

const MissedCalls = strict({
  queue_key: Type.Optional(QueueKey),
  when: Type.Optional(
    Type.Array(Type.Enum(MISSED_CALL_KINDS), {
      minItems: 1,
      uniqueItems: true,
      description: 'Calls that came in of which a callback task is made. Default: all of them.',
    }),
  ),
})

const TransferTarget = Type.String({ pattern: NUMBER_PREFIX_PATTERN })

/** Everything about a tenant that its administrators set. What is left out has its default; see `toRuntime`. */
export const TenantDocument = strict({
  tenant_id: Type.Unsafe<TenantId>(Type.String({ pattern: KEY_PATTERN, description: 'Its name in addresses.' })),
  name: maybe(Label('For people.')),
  org_id: maybe(Label("The tenant's own organisation id.")),
  model: maybe(Label("The realtime model. Default: the driver's.")),
  voice: maybe(Label("The voice. Default: the driver's.")),
  system_prompt_key: maybe(Label('A stored prompt that comes before the instructions.')),
  auth_token: maybe(WriteOnly(200, 'The legacy raw bearer token: 16 to 200 visible ASCII characters.')),
  telephony: maybe(Telephony),
  agent: maybe(AgentVersionConfig),
  audio_output: Type.Optional(AudioOutput),
  webhook: maybe(Webhook),
  inbound_decision: maybe(InboundDecision),
  limits: Type.Optional(Limits),
  compliance: Type.Optional(Compliance),
  transfer_targets: Type.Optional(
    Type.Array(TransferTarget, {
      maxItems: 500,
      uniqueItems: true,
      description: 'E.164 numbers or prefixes to which calls may be transferred. Empty refuses all.',
    }),
  ),
  tools: Type.Optional(
    Type.Array(TenantTool, { maxItems: 100, description: 'What agents may use beside built-in tools.' }),
  ),
  ticketing: maybe(Ticketing),
  missed_calls: maybe(MissedCalls),
})
export type TenantDocument = Static<typeof TenantDocument>
