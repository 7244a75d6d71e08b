import { by, type EndpointRow, endpoint } from './row.ts'

const MAKE_CALL = 'src/calls/make-call-routes.db'
const INCOMING = 'src/calls/incoming-routes.db'
const PROGRESS = 'src/calls/call-progress-routes.db'
const OUTBOUND = 'src/calls/outbound-routes.db'
const CALL_LOGS = 'src/records/call-log-routes.db'
const VOICE_SESSIONS = 'src/records/voice-session-routes.db'
const EVALUATIONS = 'src/records/evaluations/evaluation-routes.db'
const ANALYTICS = 'src/records/analytics/analytics-routes.db'
const LIVE = 'src/voice/live-routes.db'
const LINES = 'src/voice/lines/lines.db'
const TRANSFERS = 'src/calls/transfers.db'
const TASKS = 'src/operators/callback-task-routes.db'
const QUEUES = 'src/operators/operator-queue-routes.db'
const DNC = 'src/operators/do-not-call-routes.db'
const DNC_LISTS = 'src/operators/do-not-call-list-routes.db'
const DELIVERIES = 'src/delivery/delivery-routes.db'
const CAMPAIGNS = 'test/campaigns.db'
const SIMULATIONS = 'test/simulations.db'
const KEPT_SIMULATIONS = 'test/simulations-kept.db'
const ERASURES = 'src/calls/erasing/number-erasure-routes.db'
const RECEIPTS = 'shows the receipts of the tenant, newest first, and nobody else’s'

/** Refusals of every address that asks for a tenant's credential. */
const USUAL = [400, 401, 403, 429, 503]

/** What applications of tenants call, and carriers. */
export const CALL_ROWS: EndpointRow[] = [
  endpoint('POST /api/v1/make-call', 'makeCall', by(MAKE_CALL, 'places a call, and writes it down'), {
    answers: 'ok call_sid status to from',
    errors: [...USUAL, 404, 409, 422, 500],
  }),
  endpoint(
    'POST /api/v1/incoming-call',
    'answerIncomingCall',
    by(INCOMING, 'by a stream with a token of its own, and says who is asked what comes next'),
    { errors: [400, 401] },
  ),
  endpoint('POST /api/v1/call-status', 'takeCallStatus', by(PROGRESS, "completes the call's log"), {
    errors: [400, 401],
  }),
  endpoint(
    'POST /api/v1/call-status/:dial_ref',
    'takeOutboundCallStatus',
    by(OUTBOUND, 'is not another one: what is told of a second id changes nothing'),
  ),
  endpoint('POST /api/v1/call-resume', 'resumeCall', by(PROGRESS, 'hangs up a call whose conversation is over'), {
    errors: [401],
  }),
  endpoint(
    'POST /api/v1/call-resume/:dial_ref',
    'answerOutboundCall',
    by(OUTBOUND, 'is known by its first answer, which connects it to the agent'),
  ),
  endpoint(
    'POST /api/v1/transfers/:token',
    'answerTransferTarget',
    by(TRANSFERS, 'has the caller wait with music, tells the target, and joins the two'),
    { errors: [401, 404] },
  ),
  endpoint(
    'POST /api/v1/transfers/:token/keys',
    'takeTransferKey',
    by(TRANSFERS, 'brings the agent back when they do not press 1, are busy, or do not answer'),
    { errors: [401, 404] },
  ),
  endpoint(
    'POST /api/v1/transfers/:token/status',
    'takeTransferStatus',
    by(TRANSFERS, 'has the carrier ring the target in place of our stream, and the call is theirs when they answer'),
    { errors: [401, 404] },
  ),
  endpoint('GET /api/v1/call-logs', 'listCallLogs', by(CALL_LOGS, 'shows every field of a call'), {
    answers: 'ok count call_logs next_cursor',
    errors: USUAL,
  }),
  endpoint('GET /api/v1/call-logs/:call_sid', 'getCallLog', by(CALL_LOGS, 'shows one call'), {
    answers: 'ok call_log',
    errors: [401, 404],
  }),
  endpoint(
    'POST /api/v1/browser-calls',
    'openBrowserCall',
    by('src/calls/browser-call-routes.db', 'opens a call that its page streams, whatever the page calls it'),
    { answers: 'ok stream_url stream_token', errors: USUAL },
  ),
  endpoint(
    'POST /api/v1/dial-check',
    'checkDial',
    by('src/calls/dial-check-routes.db', 'tells all that speaks against a call, and writes nothing down'),
    { answers: 'ok allowed refusals', errors: USUAL },
  ),
  endpoint(
    'POST /api/v1/call-logs/:call_sid/cancel',
    'cancelCall',
    by('test/cancel-call.db', 'stops one that is queued, and tells so'),
    { answers: 'ok call_log', errors: [...USUAL, 404, 409, 502] },
  ),
]

/** Conversations: those that are over, and those that go on. */
export const SESSION_ROWS: EndpointRow[] = [
  endpoint(
    'GET /api/v1/voice-sessions',
    'listVoiceSessions',
    by(VOICE_SESSIONS, 'shows every field of a session but what was said and done'),
    { answers: 'ok count voice_sessions next_cursor', errors: USUAL },
  ),
  endpoint(
    'GET /api/v1/voice-sessions/:id',
    'getVoiceSession',
    by(VOICE_SESSIONS, 'shows a session with its transcript and its function calls, in their order'),
    { answers: 'ok voice_session', errors: [401, 404] },
  ),
  endpoint(
    'GET /api/v1/voice-sessions/:id/recording',
    'getRecording',
    by('test/recorded-call.db', 'gives all of it as one WAV file, which players may ask parts of'),
    { errors: [401, 404] },
  ),
  endpoint(
    'DELETE /api/v1/voice-sessions/:id',
    'eraseVoiceSession',
    by('src/calls/erasing/erase-routes.db', 'erases all that was said, and says how much that was'),
    { answers: 'ok receipt', errors: [401, 403, 404, 409] },
  ),
  endpoint(
    'POST /api/v1/erasures',
    'eraseNumber',
    by(ERASURES, 'leaves the number nowhere but on the do-not-call list, and says how much that was'),
    { answers: 'ok erasure', errors: [400, 401, 403, 409] },
  ),
  endpoint('GET /api/v1/erasures', 'listNumberErasures', by(ERASURES, RECEIPTS), {
    answers: 'ok count erasures next_cursor',
    errors: [400, 401],
  }),
  endpoint('GET /api/v1/erasures/:id', 'getNumberErasure', by(ERASURES, RECEIPTS), {
    answers: 'ok erasure',
    errors: [401, 404],
  }),
  endpoint(
    'GET /api/v1/sessions/active',
    'listLiveSessions',
    by(LIVE, 'are listed, newest first, and shown one by one'),
    {
      answers: 'ok count sessions',
      errors: [401],
    },
  ),
  endpoint(
    'GET /api/v1/sessions/:stream_sid',
    'getLiveSession',
    by(LIVE, 'are listed, newest first, and shown one by one'),
    { answers: 'ok session', errors: [401, 404] },
  ),
  endpoint('POST /api/v1/sessions/:stream_sid/actions', 'actOnLiveSession', by(LIVE, 'by words for the caller'), {
    answers: 'ok action',
    errors: [400, 401, 403, 404, 409],
  }),
  endpoint(
    'GET /api/v1/sessions/:stream_sid/events',
    'watchLiveSession',
    by(LIVE, 'from their beginning to their end'),
    {
      errors: [401, 404],
    },
  ),
  endpoint(
    'POST /api/v1/sessions/:stream_sid/listen',
    'listenToLiveSession',
    by(LINES, 'hears both sides as the caller does, and is told the end'),
    { answers: 'ok stream_url stream_token', errors: [...USUAL, 404, 409] },
  ),
  endpoint(
    'POST /api/v1/sessions/:stream_sid/takeover',
    'takeOverLiveSession',
    by(LINES, 'joins the two: the agent is cut, and each hears the other'),
    { answers: 'ok stream_url stream_token', errors: [...USUAL, 404, 409] },
  ),
  endpoint(
    'POST /api/v1/chats',
    'chat',
    by('test/chat.db', 'answers as the agent would, told what it is told in a call'),
    { answers: 'ok message function_calls', errors: USUAL },
  ),
  endpoint(
    'GET /api/v1/evaluations',
    'listEvaluations',
    by(EVALUATIONS, 'lists those of the tenant, newest first, page by page'),
    { answers: 'ok count evaluations next_cursor', errors: USUAL },
  ),
  endpoint(
    'GET /api/v1/analytics/calls',
    'getCallAnalytics',
    by(ANALYTICS, 'are what the calls of each hour came to'),
    { answers: 'ok analytics', errors: USUAL },
  ),
  endpoint(
    'POST /api/v1/voice-sessions/:id/evaluations',
    'evaluateVoiceSession',
    by(EVALUATIONS, "records a person's score, which the session shows, and tells the tenant"),
    { answers: 'ok evaluation', errors: [...USUAL, 404, 409] },
  ),
]

/** A move of a callback task, by the test that goes through all states. */
function move(action: string, told: string): EndpointRow {
  return endpoint(
    `POST /api/v1/callback-tasks/:id/${action}`,
    `${action}CallbackTask`,
    by(TASKS, `${action} leads from ${told}, and from nowhere else`),
    { answers: 'ok task', errors: [400, 401, 403, 404, 409] },
  )
}

/** What is left to people, and what they may not be called for. */
export const OPERATOR_ROWS: EndpointRow[] = [
  endpoint(
    'GET /api/v1/callback-tasks',
    'listCallbackTasks',
    by(TASKS, "lists the tenant's own tasks, newest first, page by page"),
    { answers: 'ok count tasks next_cursor', errors: USUAL },
  ),
  endpoint(
    'POST /api/v1/callback-tasks',
    'createCallbackTask',
    by(TASKS, 'makes an open task with the defaults, and tells the tenant'),
    { answers: 'ok task', errors: USUAL },
  ),
  endpoint('GET /api/v1/callback-tasks/:id', 'getCallbackTask', by(TASKS, 'let one of twenty claimers win'), {
    answers: 'ok task etag',
    errors: [401, 404],
  }),
  endpoint(
    'PATCH /api/v1/callback-tasks/:id',
    'editCallbackTask',
    by(TASKS, 'changes what is given and leaves the rest'),
    { answers: 'ok task etag', errors: [400, 401, 404, 412] },
  ),
  endpoint(
    'GET /api/v1/callback-tasks/:id/history',
    'listCallbackTaskChanges',
    by(TASKS, 'says who did what, newest first, page by page'),
    { answers: 'ok count changes next_cursor' },
  ),
  endpoint(
    'POST /api/v1/callback-tasks/:id/acknowledge',
    'acknowledgeCallbackTask',
    by(TASKS, 'acknowledge a task that is not done, whose status stays'),
    { answers: 'ok task', errors: [400, 401, 403, 404, 409] },
  ),
  move('claim', '["open"] to claimed'),
  move('release', '["claimed"] to open'),
  move('assign', '["open","claimed"] to claimed'),
  move('snooze', '["open","claimed"] to snoozed'),
  move('wake', '["snoozed"] to open'),
  move('complete', '["open","claimed"] to completed'),
  move('cancel', '["open","claimed","snoozed"] to cancelled'),
  move('reopen', '["completed","cancelled"] to open'),
  endpoint(
    'POST /api/v1/callback-tasks/:id/dispatch',
    'dispatchCallbackTask',
    by('test/task-dispatch.db', 'calls the customer, and is done when somebody answers'),
    { answers: 'ok task', errors: [400, 401, 403, 404, 409] },
  ),
  endpoint(
    'GET /api/v1/operator-queues',
    'listOperatorQueues',
    by(QUEUES, 'shows what waits in each, by key and page by page'),
    { answers: 'ok count queues', errors: USUAL },
  ),
  endpoint(
    'POST /api/v1/operator-queues/:queue_key/claim-next',
    'claimNextCallbackTask',
    by(QUEUES, 'gives the most urgent task, then the one whose time is over first, then the oldest'),
    { answers: 'ok task', errors: [400, 401, 403] },
  ),
  endpoint('GET /api/v1/dnc', 'listDncEntries', by(DNC, "lists the tenant's own numbers, newest first, page by page"), {
    answers: 'ok count entries next_cursor',
    errors: USUAL,
  }),
  endpoint('POST /api/v1/dnc', 'addDncEntry', by(DNC, 'lists a number and tells the tenant'), {
    answers: 'ok entry',
    errors: USUAL,
  }),
  endpoint('GET /api/v1/dnc/:phone', 'getDncEntry', by(DNC, 'read an entry by +12025550101'), {
    answers: 'ok entry',
    errors: [401, 404],
  }),
  endpoint('DELETE /api/v1/dnc/:phone', 'removeDncEntry', by(DNC, 'take a number off the list, and tell the tenant'), {
    answers: 'ok entry',
    errors: [401, 403, 404],
  }),
  endpoint(
    'POST /api/v1/dnc/import',
    'importDncEntries',
    by(DNC_LISTS, 'lists what can be listed, tells what cannot by its line, and tells the tenant of each number'),
    { answers: 'ok imported duplicates rejected errors', errors: [400, 401, 403, 413, 415] },
  ),
  endpoint(
    'GET /api/v1/dnc/export',
    'exportDncEntries',
    by(DNC_LISTS, "gives the tenant's own list, newest first, as it can be imported again"),
    { errors: [401] },
  ),
]

/** What happens by itself, and what tells of it. */
export const AUTOMATION_ROWS: EndpointRow[] = [
  endpoint('GET /api/v1/campaigns', 'listCampaigns', by(CAMPAIGNS, 'is its tenant’s alone'), {
    answers: 'ok count campaigns next_cursor',
    errors: USUAL,
  }),
  endpoint('POST /api/v1/campaigns', 'createCampaign', by(CAMPAIGNS, 'of a list, whose bad contacts are told'), {
    answers: 'ok campaign errors',
    errors: [...USUAL, 422],
  }),
  endpoint('GET /api/v1/campaigns/:id', 'getCampaign', by(CAMPAIGNS, 'is paused, goes on, and is cancelled'), {
    answers: 'ok campaign',
    errors: [401, 404],
  }),
  ...['start', 'pause', 'cancel'].map((move) =>
    endpoint(
      `POST /api/v1/campaigns/:id/${move}`,
      `${move}Campaign`,
      by(CAMPAIGNS, 'is paused, goes on, and is cancelled'),
      { answers: 'ok campaign', errors: [401, 403, 404, 409] },
    ),
  ),
  endpoint(
    'GET /api/v1/campaigns/:id/calls',
    'listCampaignCalls',
    by(CAMPAIGNS, 'of a CSV, with what else there is to say in the query'),
    { answers: 'ok count calls next_cursor', errors: [401, 404] },
  ),
  endpoint(
    'GET /api/v1/simulations',
    'listSimulations',
    by(KEPT_SIMULATIONS, 'are listed, newest first, by what is asked'),
    { answers: 'ok count simulations next_cursor', errors: USUAL },
  ),
  endpoint(
    'POST /api/v1/simulations',
    'createSimulation',
    by(SIMULATIONS, 'lets the agent speak with a caller, tells what was said, and whether it has passed'),
    { answers: 'ok simulation', errors: [...USUAL, 409, 503] },
  ),
  endpoint(
    'GET /api/v1/simulations/:id',
    'getSimulation',
    by(SIMULATIONS, 'lets the agent speak with a caller, tells what was said, and whether it has passed'),
    { answers: 'ok simulation', errors: [401, 404] },
  ),
  endpoint(
    'GET /api/v1/simulations/:id/runs/:run_id',
    'getSimulationRun',
    by(
      SIMULATIONS,
      'does nothing of what the agent calls: no task, no number that is listed, nobody who is put through',
    ),
    { answers: 'ok run', errors: [401, 404] },
  ),
  endpoint(
    'POST /api/v1/simulations/:id/cancel',
    'cancelSimulation',
    by(KEPT_SIMULATIONS, 'can be cancelled while they run, and what was under way counts for nothing'),
    { answers: 'ok simulation', errors: [401, 403, 404, 409] },
  ),
  endpoint(
    'POST /api/v1/tools/:name/test',
    'testTool',
    by('test/tenant-tools.db', 'runs a tool, and shows all of it but what is secret'),
    { answers: 'ok request response status output duration_ms', errors: [400, 401, 403, 404, 502] },
  ),
  endpoint(
    'GET /api/v1/webhook-deliveries',
    'listWebhookDeliveries',
    by(DELIVERIES, 'shows every field of a delivery, without what the query of its address holds'),
    { answers: 'ok count deliveries next_cursor', errors: USUAL },
  ),
  endpoint(
    'POST /api/v1/webhook-deliveries',
    'redeliverWebhooks',
    by(DELIVERIES, 'makes a delivery due at once under the same id, its attempts counted on'),
    { answers: 'ok requeued', errors: USUAL },
  ),
  endpoint('GET /api/v1/logs', 'listLogs', by('test/logs.db', 'lists the last lines of the tenant, newest first'), {
    answers: 'ok count logs',
    errors: [400, 401],
  }),
]

const STREAM = 'src/voice/media-stream.db'

/** The two WebSockets, one of them under two addresses. */
export const SOCKET_ROWS: EndpointRow[] = [
  endpoint('GET /media-stream', 'streamMedia', by(STREAM, "passes the caller's audio on untouched, and the model's"), {
    errors: [401, 426],
  }),
  endpoint('GET /media-stream/:token', 'streamMediaByToken', by(STREAM, 'in its path'), {
    errors: [401, 426],
  }),
  endpoint(
    'GET /logs',
    'followLogs',
    by('test/logs.db', 'tells a tenant its own lines while they are written, and nobody else’s'),
    { errors: [401, 426] },
  ),
]
