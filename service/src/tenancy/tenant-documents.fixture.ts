import fc from 'fast-check'
import type { TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import type { Db } from '../platform/db/schema.ts'
import type { TenantDocument } from './tenant-document.ts'
import { EVENT_NAMES } from './tenant-events.ts'
import type { ErasingTenants, TenantCalls } from './tenant-removal.ts'
import { isMarkedDeleted, removeTenant } from './tenant-store.ts'
import type { TenantTool } from './tenant-tools.ts'

/** Tenants without any calls. */
export const QUIET: TenantCalls = { count: async () => 0, end: async () => true }

/** Deletes what is left of deleted tenants all at once. */
export function eraseAtOnce(db: () => Db): ErasingTenants {
  return {
    async goOn(tenantId) {
      if (!(await isMarkedDeleted(db(), tenantId))) return
      await db()
        .transaction()
        .execute((tx) => removeTenant(tx, tenantId))
    },
  }
}

/** The secrets of `FULL_DOCUMENT`: wherever one of these is seen, something leaked. */
export const CANARIES = {
  authToken: 'canary-legacy-bearer-0001',
  telephonyToken: 'canary-telephony-token-0002',
  telephonySecondary: 'canary-telephony-secondary-0003',
  webhookSecret: 'whsec_Y2FuYXJ5LXdlYmhvb2stc2VjcmV0LTAwMDQ=',
  webhookPrevious: 'canary-webhook-previous-0005',
  ticketingToken: 'canary-ticketing-token-0006',
  httpHeader: 'Bearer canary-http-tool-header-0007',
  mcpHeader: 'canary-mcp-server-header-0008',
}

/** A sound document that has every member. */
export const FULL_DOCUMENT: TenantDocument = {
  tenant_id: 'acme' as TenantId,
  name: 'Acme Dental',
  org_id: 'org-1',
  model: 'realtime-1',
  voice: 'marin',
  system_prompt_key: 'house-rules',
  auth_token: CANARIES.authToken,
  telephony: {
    provider: 'twilio',
    account_sid: 'AC00000000000000000000000000000001',
    auth_token: CANARIES.telephonyToken,
    auth_token_secondary: CANARIES.telephonySecondary,
    from_number: '+12025550101' as PhoneNumber,
    fallback_number: '+12025550102' as PhoneNumber,
  },
  agent: { agent_name: 'Robin', instructions: 'Book appointments.', tools: ['end_call', 'find_slot'] },
  audio_output: { provider: 'secondary', voice_id: 'voice-1', model_id: 'model-1' },
  webhook: {
    url: 'https://hooks.example.com/parley',
    secret: CANARIES.webhookSecret,
    secret_previous: CANARIES.webhookPrevious,
    events: ['voice.call.completed', 'voice.transcript.turn'],
  },
  inbound_decision: { url: 'https://decide.example.com/inbound', timeout_ms: 500 },
  limits: {
    max_concurrent_calls: 20,
    requests_per_minute: 600,
    max_call_seconds: 900,
    idle_seconds: 20,
    minutes_per_day: 1_000,
    budget_per_call: 2.5,
    budget_per_day: 100,
  },
  compliance: {
    timezone: 'America/New_York',
    calling_hours: { start: '08:00', end: '24:00' },
    max_attempts_per_day: 3,
    allowed_countries: ['US', 'CA'],
    require_consent: true,
    record_calls: true,
    record_beep: true,
    redact_pii: true,
    retention_days: 90,
    ai_disclosure: 'You are talking to an automated assistant.',
  },
  transfer_targets: ['+12025550103', '+44'],
  tools: [
    {
      type: 'http',
      name: 'find_slot',
      description: 'Finds a free slot.',
      parameters: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
      method: 'GET',
      url: 'https://api.example.com/slots',
      headers: { Authorization: CANARIES.httpHeader },
      timeout_ms: 3_000,
      idempotent: true,
    },
    {
      type: 'mcp',
      name: 'records',
      url: 'https://mcp.example.com/',
      headers: { 'x-api-key': CANARIES.mcpHeader },
      tools: ['look_up'],
    },
  ],
  ticketing: { driver: 'generic', base_url: 'https://tickets.example.com', token: CANARIES.ticketingToken },
  missed_calls: { queue_key: 'callbacks', when: ['missed', 'abandoned'] },
}

const secret = fc.string({ minLength: 16, maxLength: 60, unit: visibleAscii() })
/** More than blanks: what is of nothing else is refused. */
const label = fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }).filter((text) => text.trim() !== '')

function visibleAscii(): fc.Arbitrary<string> {
  return fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))
}

function maybe<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.option(value, { nil: null })
}

const headers = fc.dictionary(fc.stringMatching(/^x-[a-z0-9~]{1,12}$/), secret, { maxKeys: 3 })
const toolNames = fc.uniqueArray(fc.stringMatching(/^t_[a-z0-9]{1,8}$/), { maxLength: 4 })

function tools(names: string[]): fc.Arbitrary<TenantTool[]> {
  const url = fc.constant('https://api.example.com/tool')
  return fc.tuple(
    ...names.map((name) =>
      fc.oneof(
        fc.record<TenantTool>({ type: fc.constant('http'), name: fc.constant(name), url, headers }),
        fc.record<TenantTool>({ type: fc.constant('mcp'), name: fc.constant(name), url, headers }),
      ),
    ),
  )
}

/** Sound documents of one tenant, with and without each of the secrets. */
export function documents(): fc.Arbitrary<TenantDocument> {
  return fc.record<TenantDocument, 'tenant_id'>(
    {
      tenant_id: fc.constant('acme' as TenantId),
      name: maybe(label),
      model: maybe(label),
      auth_token: maybe(secret),
      telephony: maybe(
        fc.record({
          account_sid: maybe(fc.stringMatching(/^AC[0-9a-f]{32}$/)),
          auth_token: maybe(secret),
          auth_token_secondary: maybe(secret),
        }),
      ),
      webhook: maybe(
        fc.record({
          url: fc.constant('https://hooks.example.com/'),
          secret: maybe(secret),
          secret_previous: maybe(secret),
          events: maybe(fc.uniqueArray(fc.constantFrom(...EVENT_NAMES), { minLength: 1 })),
        }),
      ),
      limits: fc.record({
        idle_seconds: fc.integer({ min: 3, max: 600 }),
        budget_per_day: maybe(fc.integer({ min: 0, max: 999 })),
      }),
      tools: toolNames.chain(tools),
      ticketing: maybe(
        fc.record({
          driver: fc.constantFrom('generic', 'zendesk'),
          base_url: fc.constant('https://tickets.example.com'),
          token: maybe(secret),
        }),
      ),
    },
    { requiredKeys: ['tenant_id'] },
  )
}
