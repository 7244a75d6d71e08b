// What the catalogue of events shows. Each example is checked against the schema of its event.

const CALL_SID = 'CA5d0c1f7e8b9a4c2f8e6d3b1a09f87c65'
const SESSION_ID = '0190b2a4-6c1e-7f00-8a3b-5d9e1c2f4a60'
const VERSION_ID = '0190b29f-11aa-7c00-9b0d-3f6a7e8c9d10'

/** Of an event that is about a call. */
export const EXAMPLE_CALL = { call_sid: CALL_SID, voice_session_id: SESSION_ID }

const AGENT = { agent_key: 'support', agent_name: 'Robin', agent_version_id: VERSION_ID, version_number: 3 }

const RINGING_LOG = {
  call_sid: CALL_SID,
  tenant_id: 'acme',
  org_id: null,
  direction: 'inbound',
  from: '+12025550123',
  to: '+12025550140',
  status: 'in-progress',
  ...AGENT,
  stream_sid: null,
  voice_session_id: SESSION_ID,
  callback_task_id: null,
  campaign_id: null,
  placed_by: null,
  canceled_by: null,
  created_at: '2030-01-01T09:00:00.000Z',
  started_at: '2030-01-01T09:00:00.000Z',
  answered_at: '2030-01-01T09:00:01.250Z',
  ended_at: null,
  duration_seconds: null,
  answered_by: null,
  answered_by_source: null,
  escalated: false,
  escalation_target: null,
  summary: null,
  error_code: null,
  ...{ error_message: null, cost_usd: null },
  metadata: {},
}

const ENDED_LOG = {
  ...RINGING_LOG,
  ...{ status: 'completed', cost_usd: 0.0731 },
  stream_sid: 'MZ0a1b2c3d4e5f60718293a4b5c6d7e8f9',
  ended_at: '2030-01-01T09:01:03.000Z',
  duration_seconds: 62,
}

const FAILED_LOG = {
  ...RINGING_LOG,
  ...{ direction: 'outbound', from: '+12025550140', to: '+12025550123', status: 'busy', answered_at: null },
  ...{ ended_at: '2030-01-01T09:00:12.000Z', duration_seconds: 0 },
}

const ANSWERED_LOG = {
  ...RINGING_LOG,
  ...{ direction: 'outbound', from: '+12025550140', to: '+12025550123' },
  ...{ stream_sid: 'MZ0a1b2c3d4e5f60718293a4b5c6d7e8f9' },
  ...{ answered_by: 'machine_end_beep', answered_by_source: 'tone' },
}

const SESSION = {
  id: SESSION_ID,
  tenant_id: 'acme',
  org_id: null,
  call_sid: CALL_SID,
  stream_sid: 'MZ0a1b2c3d4e5f60718293a4b5c6d7e8f9',
  direction: 'inbound',
  ...AGENT,
  model: 'gpt-realtime-2.1',
  voice: 'marin',
  audio_output_provider: 'primary',
  started_at: '2030-01-01T09:00:01.250Z',
  ended_at: null,
  duration_seconds: null,
  end_reason: null,
  resumed_count: 0,
  latency: { greeting_ms: null, response_p50_ms: null, response_p95_ms: null, interruptions: 0 },
  usage: { input_tokens: 0, output_tokens: 0, cached_tokens: 0, audio_seconds: 0 },
  tags: [],
  outcome: null,
  outcome_notes: null,
  ...{ cost_usd: null, qa: null, qa_status: null, qa_reason: null, summary: null },
  ...{ extraction: null, extraction_status: null, extraction_reason: null },
  recording_url: null,
  metadata: {},
}

const TURN = {
  ...{ seq: 1, role: 'agent', agent_name: 'Robin', text: 'Hello, how can I help?', unheard: '' },
  ...{ start_ms: 420, end_ms: 2_140, interrupted: false, cost_usd: 0.0045, timeline: null },
}

const ENDED_SESSION = {
  ...SESSION,
  ended_at: '2030-01-01T09:01:03.000Z',
  duration_seconds: 62,
  end_reason: 'caller_hangup',
  latency: { greeting_ms: 430, response_p50_ms: 610, response_p95_ms: 890, interruptions: 1 },
  usage: { input_tokens: 1_820, output_tokens: 640, cached_tokens: 1_152, audio_seconds: 31.5 },
  tags: ['opening-hours'],
  outcome: 'answered',
  ...{ cost_usd: 0.0731, qa_status: 'pending' },
  ...{ extraction: { topic: 'opening hours' }, extraction_status: 'filled' },
  transcript: [
    TURN,
    {
      ...{ seq: 2, role: 'caller', agent_name: null, text: 'Until when are you open?', unheard: '' },
      ...{ start_ms: 3_000, end_ms: 4_300, interrupted: false, cost_usd: null, timeline: null },
    },
    {
      ...{ seq: 3, role: 'agent', agent_name: 'Robin', text: 'We are open until six.', unheard: '' },
      ...{ start_ms: 5_118, end_ms: 6_600, interrupted: false, cost_usd: 0.0051 },
      timeline: {
        ...{ speech_end_ms: 4_300, committed_ms: 4_806, asked_ms: 4_806, first_byte_ms: 5_118, first_sent_ms: 5_118 },
        ...{ heard_ms: 5_160, tools: [] },
      },
    },
  ],
  function_calls: [
    {
      ...{ seq: 4, name: 'record_outcome', arguments: { outcome: 'answered', tags: ['opening-hours'] } },
      ...{ result: { recorded: true }, status: 'ok', start_ms: 52_000, duration_ms: 14 },
    },
  ],
}

const TASK = {
  tenant_id: 'acme',
  id: '0190b2a5-0d31-7a00-8f2c-6b7d8e9fa0b1',
  stream_sid: 'MZ0a1b2c3d4e5f60718293a4b5c6d7e8f9',
  call_sid: CALL_SID,
  agent_name: 'Robin',
  customer_phone: '+12025550123',
  status: 'open',
  disposition: null,
  priority: 'normal',
  queue_key: 'default',
  summary: 'Wants to move an appointment.',
  notes: null,
  metadata: {},
  created_by: 'agent',
  assigned_to: null,
  acknowledged_at: null,
  acknowledged_by: null,
  claimed_at: null,
  completed_at: null,
  due_at: null,
  sla_due_at: '2030-01-01T09:30:40.000Z',
  last_sla_alert_due_at: null,
  last_sla_alerted_at: null,
  snoozed_until: null,
  snooze_reason: null,
  dispatch_attempt_count: 0,
  last_dispatch_attempted_at: null,
  last_dispatch_call_sid: null,
  last_dispatch_status: null,
  created_at: '2030-01-01T09:00:40.000Z',
  updated_at: '2030-01-01T09:00:40.000Z',
}

const CLAIMED = { ...TASK, status: 'claimed', assigned_to: 'ann', claimed_at: '2030-01-01T09:05:00.000Z' }

const SNOOZED = {
  ...TASK,
  ...{ status: 'snoozed', snoozed_until: '2030-01-01T12:00:00.000Z', snooze_reason: 'In a meeting until noon.' },
}

const DISPATCHED = {
  ...TASK,
  ...{ status: 'dispatching', dispatch_attempt_count: 1, last_dispatch_attempted_at: '2030-01-01T09:10:00.000Z' },
  last_dispatch_status: 'queued',
}

const CALLED = { ...DISPATCHED, last_dispatch_call_sid: 'CA7e1d0c9b8a7f4e6d5c4b3a29180f7e6d' }

const ENTRY = {
  phone: '+12025550123',
  reason: 'asked on the phone',
  source: 'agent',
  created_at: '2030-01-01T09:00:50.000Z',
}

const OUTCOME = {
  ...EXAMPLE_CALL,
  tenant_id: 'acme',
  org_id: null,
  campaign_id: null,
  direction: 'inbound',
  from: '+12025550123',
  to: '+12025550140',
  status: 'completed',
  agent_key: AGENT.agent_key,
  agent_version_id: VERSION_ID,
  model: 'gpt-realtime-2.1',
  voice: 'marin',
  audio_output_provider: 'primary',
  created_at: '2030-01-01T09:00:00.000Z',
  answered_at: '2030-01-01T09:00:01.250Z',
  ended_at: '2030-01-01T09:01:03.000Z',
  duration_seconds: 62,
  usage: ENDED_SESSION.usage,
  cost_usd: ENDED_SESSION.cost_usd,
  estimated: false,
}

const CAMPAIGN = {
  id: '0190b2a6-2b77-7d00-9c41-8e0f1a2b3c4d',
  tenant_id: 'acme',
  name: 'Spring appointments',
  agent_key: AGENT.agent_key,
  from: '+12025550140',
  status: 'running',
  status_reason: null,
  start_at: null,
  calling_hours: { start: '09:00', end: '17:00' },
  calls_per_second: 1,
  max_concurrent: 5,
  max_attempts: 3,
  retry_minutes: [30, 60, 120],
  on_machine: null,
  contacts: { total: 120, pending: 120, dialing: 0, completed: 0, failed: 0, refused: 0, cancelled: 0 },
  created_at: '2030-01-01T08:30:00.000Z',
  started_at: '2030-01-01T09:00:00.000Z',
  completed_at: null,
  updated_at: '2030-01-01T09:00:00.000Z',
}

const AGENT_ID = '0190b29e-7d10-7b00-a1c2-3d4e5f607182'
const CANARY_ID = '0190b2a0-55bb-7d00-8c1e-4a5b6c7d8e9f'

const EVALUATION = {
  id: '0190b2a6-2f40-7e00-9d1a-7c8e9fa0b1c2',
  tenant_id: 'acme',
  voice_session_id: SESSION_ID,
  agent_id: AGENT_ID,
  agent_version_id: VERSION_ID,
  score: 0.9333,
  high_quality: true,
  criteria: [
    { name: 'helpfulness', score: 1, reason: 'The caller learned the opening hours.' },
    { name: 'accuracy', score: 0.9, reason: 'The hours are those of the instructions.' },
    { name: 'tone', score: 0.9, reason: 'Friendly and brief.' },
  ],
  summary: 'The caller asked for the opening hours and was told them.',
  source: 'model',
  created_at: '2030-01-01T09:01:05.500Z',
}

const GOVERNED = {
  ...{
    agent_id: AGENT_ID,
    agent_key: AGENT.agent_key,
    agent_name: AGENT.agent_name,
    status: 'rolled_back',
    applied: true,
  },
  reasons: [
    'Version 4 scores 0.41 on average in 24 calls, less than 0.7.',
    'Version 4 has 12.5% of high quality in 24 calls, less than 60%.',
    'The share of version 4, 30%, went to the published version 3.',
  ],
  policy: { enabled: true, lookback_hours: 24, min_avg_score: 0.7, min_eval_count: 20, min_high_quality_rate: 0.6 },
  published_version: {
    ...{ agent_version_id: VERSION_ID, version_number: 3, traffic_percentage: 70, eval_count: 61, avg_score: 0.9 },
    ...{ high_quality_rate: 0.9508, breached: false },
  },
  rollout_versions: [
    {
      ...{ agent_version_id: CANARY_ID, version_number: 4, traffic_percentage: 30, eval_count: 24, avg_score: 0.41 },
      ...{ high_quality_rate: 0.125, breached: true },
    },
  ],
}

/** The payload of each event. */
export const EXAMPLE_PAYLOADS = {
  'voice.call.started': { call_log: RINGING_LOG },
  'voice.call.completed': { duration_seconds: 62, status: 'completed', call_log: ENDED_LOG },
  'voice.call.failed': { call_log: FAILED_LOG },
  'voice.call.answered': { call_log: ANSWERED_LOG },
  'voice.session.started': { voice_session: SESSION },
  'voice.session.escalated': {
    voice_session: SESSION,
    call_log: { ...RINGING_LOG, stream_sid: SESSION.stream_sid, escalated: true, escalation_target: 'billing team' },
  },
  'voice.session.resumed': { voice_session: { ...SESSION, resumed_count: 1 } },
  'voice.session.completed': { voice_session: ENDED_SESSION },
  'voice.recording.ready': {
    recording: {
      ...{ voice_session_id: SESSION_ID, call_sid: CALL_SID, duration_ms: 61_700, parts: 1 },
      recording_url: `/api/v1/voice-sessions/${SESSION_ID}/recording`,
    },
  },
  'voice.evaluation.completed': { evaluation: EVALUATION },
  'voice.transcript.turn': { turn: TURN },
  'callback.task.created': { task: TASK },
  'callback.task.claimed': { task: CLAIMED },
  'callback.task.snoozed': { task: SNOOZED },
  'callback.task.woken': { task: TASK },
  'callback.task.dispatched': { task: DISPATCHED },
  'callback.task.completed': {
    task: {
      ...{ ...CALLED, status: 'completed', disposition: 'reached', last_dispatch_status: 'completed' },
      completed_at: '2030-01-01T09:12:30.000Z',
    },
  },
  'callback.task.cancelled': { task: { ...TASK, status: 'cancelled' } },
  'callback.task.reopened': {
    task: { ...CALLED, status: 'open', disposition: 'busy', due_at: '2030-01-01T09:40:20.000Z' },
  },
  'callback.task.reconciled': {
    task: {
      ...{ ...TASK, status: 'completed', disposition: 'resolved', completed_at: '2030-01-01T10:00:00.000Z' },
      metadata: { external_ticket: { id: '4711', url: 'https://tickets.example.com/4711' } },
    },
  },
  'operator_queue.sla_breached': {
    task: {
      ...TASK,
      last_sla_alert_due_at: TASK.sla_due_at,
      last_sla_alerted_at: '2030-01-01T09:31:00.000Z',
    },
  },
  'operator_queue.follow_up_due': { task: CLAIMED },
  'operator_queue.escalated': { task: { ...TASK, priority: 'high' } },
  'dnc.added': { entry: ENTRY },
  'dnc.removed': { entry: ENTRY },
  'campaign.started': { campaign: CAMPAIGN },
  'campaign.completed': {
    campaign: {
      ...{ ...CAMPAIGN, status: 'completed', completed_at: '2030-01-01T11:20:05.000Z' },
      contacts: { ...CAMPAIGN.contacts, pending: 0, completed: 104, failed: 13, refused: 3 },
      updated_at: '2030-01-01T11:20:05.000Z',
    },
  },
  'rollout.rolled_back': { evaluation: GOVERNED, rollouts: [] },
  'billing.outcome': { outcome: OUTCOME },
}
