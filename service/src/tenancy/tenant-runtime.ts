import type { TenantId } from '../kernel/ids.ts'
import type { PhoneNumber } from '../kernel/phone.ts'
import type { TelephonyProvider } from '../platform/telephony/registry.ts'
import type { TicketingDriverName } from '../platform/ticketing/registry.ts'
import type { CompleteAgentConfig } from './agent-config-defaults.ts'
import type { EventName } from './tenant-events.ts'
import type { HttpTool, McpServer } from './tenant-tools.ts'
import type { MissedCallKind } from './tenant-values.ts'

/** The carrier account of tenants that have none of their own; null where the operator set nothing. */
export type TelephonyDefaults = {
  account_sid: string | null
  auth_token: string | null
  auth_token_secondary?: string | null
  from_number: PhoneNumber | null
}

export type TenantTelephony = TelephonyDefaults & {
  provider: TelephonyProvider
  auth_token_secondary: string | null
  fallback_number: PhoneNumber | null
}

export type TenantWebhook = {
  url: string
  secret: string | null
  secret_previous: string | null
  events: EventName[]
  disabled: boolean
}

export type TenantLimits = {
  max_concurrent_calls: number | null
  requests_per_minute: number | null
  max_call_seconds: number
  idle_seconds: number
  minutes_per_day: number | null
  budget_per_call: number | null
  budget_per_day: number | null
}

export type TenantCompliance = {
  timezone: string | null
  calling_hours: { start: string; end: string } | null
  max_attempts_per_day: number | null
  /** Null: every country; empty: none. */
  allowed_countries: string[] | null
  require_consent: boolean
  record_calls: boolean
  record_beep: boolean
  redact_pii: boolean
  retention_days: number | null
  ai_disclosure: string | null
}

export type RuntimeTool = Required<HttpTool> | Required<McpServer>

/**
 * What a call runs by: the tenant document with every default applied and its secrets open, in the document's own words.
 * Null is what is not set, or what the driver decides (`model`, `voice`). The legacy token is left out: no call needs it.
 */
export type TenantRuntime = {
  tenant_id: TenantId
  name: string | null
  org_id: string | null
  model: string | null
  voice: string | null
  system_prompt_key: string | null
  telephony: TenantTelephony
  agent: CompleteAgentConfig | null
  audio_output: { provider: 'primary' | 'secondary'; voice_id: string | null; model_id: string | null }
  webhook: TenantWebhook | null
  inbound_decision: { url: string; timeout_ms: number } | null
  limits: TenantLimits
  compliance: TenantCompliance
  transfer_targets: string[]
  tools: RuntimeTool[]
  ticketing: { driver: TicketingDriverName; base_url: string; token: string | null } | null
  /** Calls that came in of which callback tasks are made; null: of none. */
  missed_calls: { queue_key: string; when: MissedCallKind[] } | null
}
