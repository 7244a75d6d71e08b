import { deepFreeze } from '../kernel/deep-freeze.ts'
import { agentConfigDefaults } from './agent-config-defaults.ts'
import type { TenantDocument } from './tenant-document.ts'
import { EVENT_NAMES } from './tenant-events.ts'
import { fallbackFault } from './tenant-rules.ts'
import type {
  RuntimeTool,
  TelephonyDefaults,
  TenantCompliance,
  TenantLimits,
  TenantRuntime,
  TenantTelephony,
  TenantWebhook,
} from './tenant-runtime.ts'
import type { TenantTool } from './tenant-tools.ts'
import { MISSED_CALL_KINDS } from './tenant-values.ts'

const NO_NAMES: Pick<TenantRuntime, 'name' | 'org_id' | 'model' | 'voice' | 'system_prompt_key'> = {
  name: null,
  org_id: null,
  model: null,
  voice: null,
  system_prompt_key: null,
}

const NO_TELEPHONY: TenantTelephony = {
  provider: 'twilio',
  account_sid: null,
  auth_token: null,
  auth_token_secondary: null,
  from_number: null,
  fallback_number: null,
}

const PRIMARY_AUDIO: TenantRuntime['audio_output'] = { provider: 'primary', voice_id: null, model_id: null }

const NO_LIMITS: TenantLimits = {
  max_concurrent_calls: null,
  requests_per_minute: null,
  max_call_seconds: 1_800,
  idle_seconds: 30,
  minutes_per_day: null,
  budget_per_call: null,
  budget_per_day: null,
}

const NO_RULES: TenantCompliance = {
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
}

/** A webhook that names no events gets all but the one that comes with every sentence. */
const USUAL_EVENTS = EVENT_NAMES.filter((name) => name !== 'voice.transcript.turn')

const UNSIGNED_WEBHOOK: Omit<TenantWebhook, 'url'> = {
  secret: null,
  secret_previous: null,
  events: USUAL_EVENTS,
  disabled: false,
}

const ALL_MISSED = { queue_key: 'default', when: [...MISSED_CALL_KINDS] }

const NO_ARGUMENTS = { type: 'object', properties: {} }

/**
 * Applies the defaults. The result shares nothing with `document` and is frozen to its leaves, so that a cache can hand
 * it to many calls.
 *
 * @param document with its secrets open.
 */
export function toRuntime(document: TenantDocument, telephony: TelephonyDefaults): TenantRuntime {
  const { name, org_id, model, voice, system_prompt_key, inbound_decision } = document
  return deepFreeze(
    structuredClone<TenantRuntime>({
      tenant_id: document.tenant_id,
      ...fill(NO_NAMES, withoutBlanks({ name, org_id, model, voice, system_prompt_key })),
      telephony: soundTelephony(fill({ ...NO_TELEPHONY, ...defaultsFor(document, telephony) }, document.telephony)),
      agent: document.agent ? agentConfigDefaults(document.agent) : null,
      audio_output: fill(PRIMARY_AUDIO, withoutBlanks(document.audio_output)),
      webhook: document.webhook ? webhook(document.webhook) : null,
      inbound_decision: inbound_decision ? { timeout_ms: 2_000, ...inbound_decision } : null,
      limits: fill(NO_LIMITS, document.limits),
      compliance: fill(NO_RULES, withoutBlanks(document.compliance)),
      transfer_targets: document.transfer_targets ?? [],
      tools: (document.tools ?? []).map(tool),
      ticketing: document.ticketing ? { ...document.ticketing, token: document.ticketing.token ?? null } : null,
      missed_calls: document.missed_calls ? { ...ALL_MISSED, ...document.missed_calls } : null,
    }),
  )
}

/** The second token is of the account that the first one is of. */
function defaultsFor({ telephony: own }: TenantDocument, telephony: TelephonyDefaults): TelephonyDefaults {
  return own?.auth_token ? { ...telephony, auth_token_secondary: null } : telephony
}

/** Documents from before they were looked at may name a number that is never called: that is none. */
function soundTelephony({ fallback_number: number, ...account }: TenantTelephony): TenantTelephony {
  return { ...account, fallback_number: number !== null && fallbackFault(number) ? null : number }
}

/** Documents from before blanks were refused may have them: a model would be told to say them. */
function withoutBlanks<Given extends object>(given: Given | null | undefined): Partial<Given> {
  const said = Object.entries(given ?? {}).filter(([, value]) => typeof value !== 'string' || value.trim() !== '')
  return Object.fromEntries(said) as Partial<Given>
}

function webhook({ url, ...given }: NonNullable<TenantDocument['webhook']>): TenantWebhook {
  return { url, ...fill(UNSIGNED_WEBHOOK, given) }
}

function tool(given: TenantTool): RuntimeTool {
  if (given.type === 'mcp') return { headers: {}, tools: null, async: false, ...given }
  return {
    description: '',
    parameters: NO_ARGUMENTS,
    method: 'POST',
    headers: {},
    timeout_ms: 10_000,
    idempotent: false,
    async: false,
    ...given,
  }
}

/** `defaults` with everything that was given in place of its default; null and undefined give nothing. */
function fill<Whole extends object>(
  defaults: Whole,
  given: { [Member in keyof Whole]?: Whole[Member] | null | undefined } | null | undefined,
): Whole {
  const set = Object.entries(given ?? {}).filter(([, value]) => value !== null && value !== undefined)
  return { ...defaults, ...Object.fromEntries(set) }
}
