import { describe, expect, it } from 'vitest'
import type { TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import { toRuntime } from './tenant-defaults.ts'
import type { TenantDocument } from './tenant-document.ts'
import { CANARIES, FULL_DOCUMENT } from './tenant-documents.fixture.ts'
import { EVENT_NAMES } from './tenant-events.ts'
import type { TelephonyDefaults } from './tenant-runtime.ts'

const BARE = { tenant_id: 'bare' as TenantId } satisfies TenantDocument
const NONE: TelephonyDefaults = { account_sid: null, auth_token: null, from_number: null }
const OPERATOR: TelephonyDefaults = {
  account_sid: 'ACoperator',
  auth_token: 'operator-token',
  from_number: '+12025550199' as PhoneNumber,
}

function everyObject(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return []
  return [value, ...Object.values(value).flatMap(everyObject)]
}

describe('toRuntime', () => {
  it('takes the second token of the installation with its first one alone', () => {
    const telephony = { ...OPERATOR, auth_token_secondary: 'operator-token-2' }
    expect(toRuntime(BARE, telephony).telephony).toMatchObject(telephony)
    const own = { ...BARE, telephony: { account_sid: 'AC1', auth_token: 'its-own-token' } }
    expect(toRuntime(own, telephony).telephony).toMatchObject({ ...own.telephony, auth_token_secondary: null })
  })

  it('applies every default to a document that only names the tenant', () => {
    expect(toRuntime(BARE, NONE)).toEqual({
      tenant_id: 'bare',
      name: null,
      org_id: null,
      model: null,
      voice: null,
      system_prompt_key: null,
      telephony: {
        provider: 'twilio',
        account_sid: null,
        auth_token: null,
        auth_token_secondary: null,
        from_number: null,
        fallback_number: null,
      },
      agent: null,
      audio_output: { provider: 'primary', voice_id: null, model_id: null },
      webhook: null,
      inbound_decision: null,
      limits: {
        max_concurrent_calls: null,
        requests_per_minute: null,
        max_call_seconds: 1_800,
        idle_seconds: 30,
        minutes_per_day: null,
        budget_per_call: null,
        budget_per_day: null,
      },
      compliance: {
        timezone: null,
        calling_hours: null,
        max_attempts_per_day: null,
        allowed_countries: null,
        require_consent: false,
        record_calls: false,
        record_beep: false,
        redact_pii: false,
        retention_days: null,
        ai_disclosure: null,
      },
      transfer_targets: [],
      tools: [],
      ticketing: null,
      missed_calls: null,
    })
  })

  it('keeps all that a full document says', () => {
    const { auth_token: _, agent, ...said } = FULL_DOCUMENT
    const runtime = toRuntime(FULL_DOCUMENT, OPERATOR)
    expect(runtime).toMatchObject(said)
    expect(runtime.agent).toMatchObject(agent ?? {})
    expect(JSON.stringify(runtime)).not.toContain(CANARIES.authToken)
  })

  it("fills what the tenant's telephony leaves open from the operator's, and takes null for open", () => {
    const telephony = { account_sid: 'ACown', auth_token: null }
    expect(toRuntime({ ...BARE, telephony }, OPERATOR).telephony).toMatchObject({
      account_sid: 'ACown',
      auth_token: 'operator-token',
      from_number: '+12025550199',
    })
    expect(toRuntime({ ...BARE, telephony: null }, OPERATOR).telephony).toMatchObject(OPERATOR)
  })

  it('takes blanks alone for nothing, as documents hold them from before these were refused', () => {
    const runtime = toRuntime(
      {
        ...{ ...BARE, name: ' ', org_id: '\t', model: ' ', voice: ' ', system_prompt_key: '\n' },
        audio_output: { provider: 'secondary', voice_id: ' ', model_id: ' ' },
        compliance: { ai_disclosure: ' ' },
      },
      NONE,
    )
    expect(runtime).toMatchObject({
      ...{ name: null, org_id: null, model: null, voice: null, system_prompt_key: null },
      audio_output: { provider: 'secondary', voice_id: null, model_id: null },
      compliance: { ai_disclosure: null },
    })
  })

  it('completes the members of what is given', () => {
    const runtime = toRuntime(
      {
        ...BARE,
        webhook: { url: 'https://hooks.example.com/' },
        inbound_decision: { url: 'https://decide.example.com/' },
        ticketing: { driver: 'generic', base_url: 'https://tickets.example.com' },
        missed_calls: {},
        tools: [
          { type: 'http', name: 'find_slot', url: 'https://api.example.com/' },
          { type: 'mcp', name: 'records', url: 'https://mcp.example.com/' },
        ],
      },
      NONE,
    )
    expect(runtime).toMatchObject({
      webhook: { secret: null, secret_previous: null, disabled: false },
      inbound_decision: { timeout_ms: 2_000 },
      ticketing: { token: null },
      missed_calls: { queue_key: 'default', when: ['missed', 'failed', 'abandoned'] },
      tools: [
        { method: 'POST', timeout_ms: 10_000, idempotent: false, parameters: { type: 'object' }, headers: {} },
        { headers: {}, tools: null },
      ],
    })
    expect(runtime.webhook?.events).toEqual(EVENT_NAMES.filter((name) => name !== 'voice.transcript.turn'))
  })

  it('is frozen to its leaves and shares nothing with the document', () => {
    const runtime = toRuntime(FULL_DOCUMENT, OPERATOR)
    expect(everyObject(runtime).every((part) => Object.isFrozen(part))).toBe(true)
    expect(Object.isFrozen(FULL_DOCUMENT.tools)).toBe(false)
    expect(Object.isFrozen(OPERATOR)).toBe(false)
  })
})
