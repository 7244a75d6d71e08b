import { by, type FieldsRow, fields } from './row.ts'

const INTAKE = by('src/tenancy/access-request-routes.db', 'keeps a request for review, and counts it for its address')
const TENANTS = 'src/tenancy/tenant-routes.db'
const EVERY_MEMBER = by(TENANTS, 'takes a document that has every member')
const CACHE = 'src/tenancy/tenant-cache-routes.db'
const KEYS = 'src/tenancy/api-key-routes.db'
const VERSION = by('src/agents/agent-version-routes.db', 'answers the draft')
const ROLLOUTS = 'src/agents/rollout-routes.db'
const JUDGED = by(
  'src/agents/rollout-governance-routes.db',
  'says what it would do with a version that does badly, and does nothing',
)
const GOVERNED = by(
  'src/agents/rollout-governance-routes.db',
  'tells what it would do with each agent that has a policy',
)
const SESSION = 'test/admin-session.db'
const TRANSPORT = by(SESSION, 'is told to administrators alone')
const VOICE_SESSIONS = 'src/records/voice-session-routes.db'
const VOICE_SESSION = by(VOICE_SESSIONS, 'shows a session with its transcript and its function calls, in their order')
const TASK = by('src/operators/callback-task-routes.db', 'makes an open task with the defaults, and tells the tenant')
const QUEUES = 'src/operators/operator-queue-routes.db'
const PLACED = by('src/calls/make-call-routes.db', 'places a call, and writes it down')
const DISPATCH = by(
  'test/sweeps.db',
  'has agents call for the open tasks of the queues that are set to, when they are due',
)
const RECONCILED = by('src/operators/sweeps/ticket-sweep.db', 'completes a task whose ticket was closed')
const FOLLOWED_UP = by('src/operators/sweeps/follow-up-sweep.db', 'opens tasks whose snooze is over')
const ALERTED = by('src/operators/sweeps/sla-sweep.db', 'alerts once for each time by which a task was to be done')

const ASKED = 'company_name contact_name expected_monthly_minutes phone role timeline use_case website work_email'
const VERSION_CONFIG =
  'agent_name assistant_profile chat_model greeting instructions realtime_model voice turn_detection interruption ' +
  'idle speech dtmf voicemail fillers hold_audio tools criteria extraction reasoning_effort model_stall_ms ' +
  'max_call_seconds metadata'
const POLICY = 'enabled lookback_hours min_avg_score min_eval_count min_high_quality_rate'
const SESSION_STATUS =
  'ok authenticated login_enabled username sso_authorize_url sso_enabled role tenant_id simulated user_id standby'
const TASK_FIELDS =
  'id tenant_id stream_sid call_sid agent_name customer_phone status disposition priority queue_key summary notes ' +
  'metadata created_by assigned_to acknowledged_at acknowledged_by claimed_at completed_at due_at sla_due_at ' +
  'last_sla_alert_due_at last_sla_alerted_at snoozed_until snooze_reason dispatch_attempt_count ' +
  'last_dispatch_attempted_at last_dispatch_call_sid last_dispatch_status created_at updated_at'
const QUEUE_SETTINGS =
  'queue_key name sla_minutes timezone business_hours auto_dispatch dispatch_agent_key max_attempts retry_minutes ' +
  'reminder_minutes escalate_after_minutes escalation_target'
const SWEPT = 'attempted_tenants evaluated_tenants failures items'

/** The resources, and the fields of each. */
export const RESOURCE_ROWS: FieldsRow[] = [
  fields('Access request, as it is sent', `${ASKED} company_website_confirm`, 'requestAccess @body', INTAKE),
  fields(
    'Access request, as it is kept',
    `${ASKED} id created_at metadata remote_addr reviewed_at source status user_agent`,
    'listAccessRequests requests',
    INTAKE,
  ),
  fields(
    'Tenant in a list',
    'tenant_id config etag',
    'listTenants tenants',
    by(TENANTS, 'lists tenants newest first, page by page'),
  ),
  fields(
    'Tenant document',
    'tenant_id name org_id model voice system_prompt_key auth_token telephony agent audio_output webhook ' +
      'inbound_decision limits compliance transfer_targets tools ticketing missed_calls',
    'putTenant @body',
    EVERY_MEMBER,
  ),
  fields(
    'Tenant document: telephony',
    'provider account_sid auth_token auth_token_secondary from_number fallback_number',
    'putTenant @body telephony',
    EVERY_MEMBER,
  ),
  fields('Tenant document: audio_output', 'provider voice_id model_id', 'putTenant @body audio_output', EVERY_MEMBER),
  fields(
    'Tenant document: webhook',
    'url secret secret_previous events disabled',
    'putTenant @body webhook',
    by(
      'src/tenancy/webhook-disabling.db',
      'is shown as disabled under a new ETag, with all else as it was, its secrets too',
    ),
  ),
  fields('Tenant document: inbound_decision', 'url timeout_ms', 'putTenant @body inbound_decision', EVERY_MEMBER),
  fields(
    'Tenant document: limits',
    'max_concurrent_calls requests_per_minute max_call_seconds idle_seconds minutes_per_day budget_per_call budget_per_day',
    'putTenant @body limits',
    EVERY_MEMBER,
  ),
  fields(
    'Tenant document: compliance',
    'timezone calling_hours max_attempts_per_day allowed_countries require_consent record_calls record_beep redact_pii ' +
      'retention_days ai_disclosure',
    'putTenant @body compliance',
    EVERY_MEMBER,
  ),
  fields('Tenant document: missed_calls', 'queue_key when', 'putTenant @body missed_calls', EVERY_MEMBER),
  fields('Tenant document: ticketing', 'driver base_url token', 'putTenant @body ticketing', EVERY_MEMBER),
  fields(
    'Runtime settings of a tenant',
    'model voice system_prompt_key telephony audio_output webhook_url',
    'getRuntimeConfig runtime_config',
    by('src/tenancy/runtime-config-routes.db', 'is merged into the document, member by member'),
  ),
  fields(
    'Tenant in memory',
    'tenant_id org_id active_sessions audio_output_provider secondary_audio_configured secondary_audio_ready ' +
      'stream_broker_configured log_subscribers telephony_configured',
    'listCachedTenants tenants',
    by(CACHE, 'shows what is in memory, used last first'),
  ),
  fields(
    'Audio provider of a tenant',
    'tenant_id cached configured effective fallback_reason',
    'getAudioProviders items',
    by(CACHE, 'counts what cached tenants ask for and what their calls would get'),
  ),
  fields(
    'Credential in memory',
    'cache_key cache_present evictions hits misses reloads tenant_id',
    'getCredentialCacheMetrics items',
    by(CACHE, 'counts by credential, and never shows one'),
  ),
  fields(
    'Failure to reload',
    'error tenant_id',
    'reloadCachedTenants failures',
    by(CACHE, 'reads all of them again at once, and tells those that are gone or cannot be read'),
  ),
  fields(
    'API key',
    'id key_prefix label created_at last_used_at revoked_at',
    'listApiKeys api_keys',
    by(KEYS, "lists the tenant's keys without their secrets, revoked ones too"),
  ),
  fields(
    'API key, when it is made',
    'api_key token',
    'createApiKey created',
    by(KEYS, 'answers the key and, this once, its token'),
  ),
  fields(
    'Person of a tenant',
    'id email name role status tenant_id created_at updated_at last_login_at',
    'listUsers users',
    by('test/people.db', 'are added, shown without their password, and log in at the same place'),
  ),
  fields(
    'Agent',
    'id tenant_id agent_key name description require_simulation created_at updated_at',
    'listAgents agents',
    by('src/agents/agent-routes.db', 'answers the agent'),
  ),
  fields(
    'Agent version',
    'id tenant_id agent_id agent_key agent_name version_number status config etag created_at updated_at published_at',
    'listAgentVersions versions',
    VERSION,
  ),
  fields(
    'Config of an agent version',
    VERSION_CONFIG,
    'createAgentVersion @body config',
    by('src/tenancy/agent-config', 'may set every member that the documentation names'),
  ),
  fields(
    'Rollout entry',
    'id tenant_id agent_id agent_key agent_name agent_version_id version_number position traffic_percentage created_at ' +
      'updated_at',
    'getRollouts rollouts',
    by(ROLLOUTS, 'are replaced as a whole, in the order in which they were sent'),
  ),
  fields(
    'What a rollout has lost by its policy',
    'at reasons versions',
    'getRollouts last_rollback',
    by(
      'src/agents/rollout-governance-routes.db',
      'says why a share was lost for as long as nothing else is, also when it has been put back',
    ),
  ),
  fields(
    'Version that has lost its share',
    'agent_version_id version_number traffic_percentage',
    'getRollouts last_rollback versions',
    by(
      'src/agents/rollout-governance-routes.db',
      'says why a share was lost for as long as nothing else is, also when it has been put back',
    ),
  ),
  fields(
    'Rollout governance policy',
    POLICY,
    'getRolloutPolicy policy',
    by(ROLLOUTS, 'is null at first, then what was written'),
  ),
  fields(
    'Rollout governance evaluation',
    'agent_id agent_key agent_name applied policy published_version reasons rollout_versions status',
    'evaluateRollout evaluation',
    JUDGED,
  ),
  fields(
    'Version in an evaluation of a rollout',
    'agent_version_id version_number traffic_percentage eval_count avg_score high_quality_rate breached',
    'evaluateRollout evaluation rollout_versions',
    JUDGED,
  ),
  fields(
    'Result of the governance sweep',
    'attempted_agents attempted_tenants evaluated_agents evaluated_tenants failures items rollback_recommended ' +
      'rollbacks_applied',
    'sweepRollouts result',
    GOVERNED,
  ),
  fields(
    'What the governance sweep found',
    'tenant_id agent_id agent_key status applied reasons',
    'sweepRollouts result items',
    GOVERNED,
  ),
  fields(
    'Prompt',
    'key text description etag created_at updated_at',
    'listPrompts prompts',
    by('src/agents/prompt-routes.db', 'are created, read, replaced, listed and deleted'),
  ),
  fields('Callback task', TASK_FIELDS, 'listCallbackTasks tasks', TASK),
  fields('Callback task of any tenant', TASK_FIELDS, 'listAllCallbackTasks tasks', TASK),
  fields(
    'Callback task, as it is sent',
    'customer_phone queue_key agent_name summary notes priority due_at sla_due_at stream_sid call_sid metadata',
    'createCallbackTask @body',
    by('src/operators/callback-task-routes.db', 'takes all that can be said of a task'),
  ),
  fields(
    'Operator queue',
    `${QUEUE_SETTINGS} depth oldest breached next_breach`,
    'listOperatorQueues queues',
    by(QUEUES, 'shows what waits in each, by key and page by page'),
  ),
  fields(
    'Settings of an operator queue',
    QUEUE_SETTINGS,
    'getOperatorQueue queue',
    by(QUEUES, 'are the defaults until they are set, and after they are deleted'),
  ),
  fields(
    'Result of the dispatch',
    `${SWEPT} dispatched_tasks dry_run_tasks eligible_tasks webhooks_enqueued`,
    'dispatchOperatorQueues result',
    DISPATCH,
  ),
  fields(
    'Result of the reconciliation with tickets',
    `${SWEPT} candidate_tasks reconciled_tasks unchanged_tasks webhooks_enqueued`,
    'reconcileTickets result',
    RECONCILED,
  ),
  fields(
    'Result of the follow-up',
    `${SWEPT} candidate_tasks escalations_applied notifications_sent snoozes_expired webhooks_enqueued`,
    'sweepFollowUps result',
    FOLLOWED_UP,
  ),
  fields(
    'Result of the queue sweep',
    `${SWEPT} alerts_recorded overdue_tasks webhooks_enqueued`,
    'sweepOperatorQueues result',
    ALERTED,
  ),
  fields(
    'What a sweep did',
    'tenant_id task_id queue_key outcome sla_due_at',
    'sweepOperatorQueues result items',
    ALERTED,
  ),
  fields(
    'What a sweep could not do',
    'tenant_id task_id error',
    'sweepOperatorQueues result failures',
    by('src/operators/sweeps/sla-sweep.db', 'goes on with other tasks and tenants where one fails'),
  ),
  fields(
    'Number that is not called',
    'phone reason source created_at',
    'listDncEntries entries',
    by('src/operators/do-not-call-routes.db', 'lists a number and tells the tenant'),
  ),
  fields(
    'Supervisor action',
    'id tenant_id stream_sid call_sid action supervisor target reason note metadata created_at',
    'listSupervisorActions actions',
    by('test/supervisor-actions.db', 'is kept, and found by tenant, call and kind'),
  ),
  fields(
    'Supervisor action, as it is sent',
    'action supervisor target text reason note metadata',
    'actOnLiveSession @body',
    by('src/voice/live-routes.db', 'by words for the caller'),
  ),
  fields(
    'Active session',
    'stream_sid tenant org_id agent_name call_type customer_phone greeting started_at escalated escalation_target',
    'listActiveSessions sessions',
    by('test/supervisor-actions.db', 'are shown to administrators, newest first'),
  ),
  fields(
    'Depth of an outbox',
    'table pending delivered failed',
    'getOutboxDepth depths',
    by('test/deliveries.db', 'delivers billing outcomes that are due when it is told to'),
  ),
  fields(
    'Diagnostics of how credentials travel',
    'legacy_query_auth_enabled stream_auth_previous_configured stream_auth_primary_configured stream_auth_secret_count',
    'getAuthTransport auth_transport',
    TRANSPORT,
  ),
  fields(
    'Alert about how credentials travel',
    'code message severity action',
    'listAuthTransportAlerts alerts',
    by('src/tenancy/auth-transport', 'is as bad as the worst of it'),
  ),
  fields(
    'Admin session status',
    SESSION_STATUS,
    'getAdminSession',
    by(SESSION, 'opens the admin surface to the browser'),
  ),
  fields(
    'Phone route',
    'id tenant_id phone_number agent_key label inbound_enabled outbound_default created_at updated_at',
    'listPhoneRoutes phone_routes',
    by('src/calls/phone-route-routes.db', 'answers the route with its defaults'),
  ),
  fields(
    'Call, as it is asked for',
    'to from agent_key agent_version_id greeting org_id metadata callback_task_id',
    'makeCall @body',
    PLACED,
  ),
  fields(
    'Call log',
    'call_sid tenant_id org_id direction from to status agent_key agent_name agent_version_id version_number stream_sid ' +
      'voice_session_id callback_task_id campaign_id placed_by canceled_by created_at started_at answered_at ended_at ' +
      'duration_seconds ' +
      'answered_by answered_by_source escalated escalation_target summary error_code error_message cost_usd metadata',
    'listCallLogs call_logs',
    by('src/records/call-log-routes.db', 'shows every field of a call'),
  ),
  fields(
    'Voice session',
    'id tenant_id org_id call_sid stream_sid direction agent_key agent_name agent_version_id version_number model voice ' +
      'audio_output_provider started_at ended_at duration_seconds end_reason resumed_count transcript function_calls ' +
      'latency usage tags qa qa_status qa_reason outcome outcome_notes summary extraction extraction_status ' +
      'extraction_reason cost_usd recording_url metadata supervisor_actions',
    'getVoiceSession voice_session',
    VOICE_SESSION,
  ),
  fields(
    'Turn of a transcript',
    'seq role agent_name text unheard start_ms end_ms interrupted cost_usd timeline',
    'getVoiceSession voice_session transcript',
    VOICE_SESSION,
  ),
  fields(
    'Timeline of a turn',
    'speech_end_ms committed_ms asked_ms first_byte_ms first_sent_ms heard_ms tools',
    'getVoiceSession voice_session transcript timeline',
    VOICE_SESSION,
  ),
  fields(
    'Function call',
    'seq name arguments result status start_ms duration_ms',
    'getVoiceSession voice_session function_calls',
    VOICE_SESSION,
  ),
  fields(
    'What a supervisor did in a session',
    'id tenant_id stream_sid call_sid action supervisor target reason note metadata created_at',
    'getVoiceSession voice_session supervisor_actions',
    by(VOICE_SESSIONS, 'shows what supervisors did in it, oldest first'),
  ),
  fields(
    'Latency of a session',
    'greeting_ms response_p50_ms response_p95_ms interruptions',
    'getVoiceSession voice_session latency',
    VOICE_SESSION,
  ),
  fields(
    'Usage of a session',
    'input_tokens output_tokens cached_tokens audio_seconds',
    'getVoiceSession voice_session usage',
    VOICE_SESSION,
  ),
  fields(
    'Quality of a session',
    'score high_quality summary criteria',
    'getVoiceSession voice_session qa',
    VOICE_SESSION,
  ),
  fields(
    'Evaluation',
    'id tenant_id voice_session_id agent_id agent_version_id score high_quality criteria summary source created_at',
    'listEvaluations evaluations',
    by(
      'src/records/evaluations/evaluation-routes.db',
      "records a person's score, which the session shows, and tells the tenant",
    ),
  ),
  fields(
    'Campaign, as it is sent',
    'name agent_key from contacts start_at calling_hours calls_per_second max_concurrent max_attempts retry_minutes ' +
      'on_machine',
    'createCampaign @body',
    by('test/campaigns.db', 'of a list, whose bad contacts are told'),
  ),
  fields(
    'Simulation',
    'id tenant_id name mode agent_key agent_name agent_version_id version_number repetitions pass_threshold score ' +
      'min_score run_tools caller_model status passed pass_rate runs_by_status cost_usd created_at started_at completed_at',
    'listSimulations simulations',
    by('test/simulations-kept.db', 'are listed, newest first, by what is asked'),
  ),
  fields(
    'Run of a simulation',
    'id position scenario repetition status reasons ended_by score summary slowest_reply_ms usage cost_usd started_at ' +
      'ended_at criteria transcript function_calls',
    'getSimulationRun run',
    by(
      'test/simulations.db',
      'does nothing of what the agent calls: no task, no number that is listed, nobody who is put through',
    ),
  ),
  fields(
    'Receipt of an erasure',
    'voice_session_id call_sid erased_at transcript_turns function_calls recording_parts callback_tasks ' +
      'supervisor_actions deliveries',
    'eraseVoiceSession receipt',
    by('src/calls/erasing/erase-routes.db', 'erases all that was said, and says how much that was'),
  ),
  fields(
    'Receipt of an erased number',
    'id status phone phone_hash requested_by created_at completed_at counts',
    'eraseNumber erasure',
    by(
      'src/calls/erasing/number-erasure-routes.db',
      'leaves the number nowhere but on the do-not-call list, and says how much that was',
    ),
  ),
  fields(
    'Delivery of a webhook',
    'id event url status attempts next_attempt_at last_status_code last_error delivered_at created_at attempt_log body',
    'listWebhookDeliveries deliveries',
    by(
      'src/delivery/delivery-routes.db',
      'shows every field of a delivery, without what the query of its address holds',
    ),
  ),
]
