const text = { type: 'string' }
const whole = { type: 'integer' }
const yes = { type: 'boolean' }
const instant = { type: 'string', format: 'date-time' }
const any = { type: 'object', additionalProperties: true }
const orNull = <Schema extends object>(schema: Schema) => ({ ...schema, nullable: true })
const numbers = (...names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, orNull({ type: 'number' })])),
})

const callLog = {
  ...{ call_sid: orNull(text), tenant_id: text, org_id: orNull(text), direction: text, from: text, to: text },
  ...{ status: text, agent_key: orNull(text), agent_name: orNull(text), agent_version_id: orNull(text) },
  ...{ version_number: orNull(whole), stream_sid: orNull(text), voice_session_id: orNull(text) },
  ...{ callback_task_id: orNull(text), campaign_id: orNull(text), created_at: instant, started_at: orNull(instant) },
  ...{ answered_at: orNull(instant), ended_at: orNull(instant), duration_seconds: orNull(whole) },
  ...{ answered_by: orNull(text), escalated: yes, escalation_target: orNull(text), summary: orNull(text) },
  ...{ error_code: orNull(text), error_message: orNull(text), metadata: any },
}

const voiceSession = {
  ...{ id: text, tenant_id: text, org_id: orNull(text), call_sid: text, stream_sid: orNull(text), direction: text },
  ...{ agent_key: orNull(text), agent_name: orNull(text), agent_version_id: orNull(text) },
  ...{ version_number: orNull(whole), model: orNull(text), voice: orNull(text), audio_output_provider: text },
  ...{ started_at: orNull(instant), ended_at: orNull(instant), duration_seconds: orNull(whole) },
  ...{ end_reason: orNull(text), resumed_count: whole },
  latency: numbers('greeting_ms', 'response_p50_ms', 'response_p95_ms', 'interruptions'),
  usage: numbers('input_tokens', 'output_tokens', 'cached_tokens', 'audio_seconds'),
  tags: { type: 'array', items: text },
  ...{ outcome: orNull(text), outcome_notes: orNull(text), metadata: any },
}

/** The lists that are measured: their path, their table, and the columns that the service shows, as JSON schemas. */
export const LISTS = [
  { name: 'call_logs', path: '/api/v1/call-logs', columns: callLog },
  { name: 'voice_sessions', path: '/api/v1/voice-sessions', columns: voiceSession },
] as const

export type List = (typeof LISTS)[number]
